// SPDX-License-Identifier: Apache-2.0
//
// Whole training runs of the reference in float64, and the lines and files of
// events that watch them.

#include "framework/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/checkpoint/tensor_file.h"
#include "framework/train/event/csv_files.h"
#include "framework/train/event/progress_line.h"
#include "framework/train/event/stop.h"
#include "framework/train/model/models.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::on_reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<double> Weights(CornersRun& subject) {
  return DoublesOf(subject.objective->parameters()[0].value);
}

TEST(TrainerTest, Learns) {
  CornersRun subject("rate=0.1");
  const train::Trained trained = Got(train::Train(subject.Run(10)));
  EXPECT_EQ(trained.epochs, 10);
  EXPECT_EQ(trained.steps, 70);
  EXPECT_EQ(trained.test.samples, 50);
  EXPECT_GE(trained.test.accuracy(), 0.98);
  EXPECT_EQ(trained.stop, "");
}

// Kills: anything that is not of the seed.
TEST(TrainerTest, GivesTheSameBitsTwice) {
  CornersRun one("rate=0.1");
  CornersRun two("rate=0.1");
  ASSERT_TRUE(train::Train(one.Run(3)).ok());
  ASSERT_TRUE(train::Train(two.Run(3)).ok());
  EXPECT_EQ(Weights(one), Weights(two));
}

TEST(TrainerTest, TrainsOnBothFormsOfALoss) {
  CornersRun classes("rate=0.1");
  CornersRun one_hot("rate=0.1", edit::Loss::kSoftmaxCrossEntropyOfOneHot);
  train::Training training = one_hot.Run(2);
  training.targets = train::Targets::kOneHot;
  ASSERT_TRUE(train::Train(classes.Run(2)).ok());
  ASSERT_TRUE(train::Train(training).ok());
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(Weights(classes)[i], Weights(one_hot)[i], 1e-14);
  }
}

// Kills: the mean of the means of unequal batches, as in tensorflow 38596; an
// accuracy over full batches alone, as Deep500's.
TEST(TrainerTest, CountsEachSampleOnce) {
  CornersRun subject("rate=0");
  train::Training training = subject.Run(1);
  const train::Trained trained = Got(train::Train(training));
  training.test =
      train::Samples{&subject.dataset, Got(train::OrderedSampler({50, 50}))};
  const train::Trained whole = Got(train::Train(training));
  EXPECT_NEAR(trained.test.mean_loss(), whole.test.mean_loss(), 1e-14);
  EXPECT_NEAR(trained.train.mean_loss(), whole.test.mean_loss(), 1e-14);
  EXPECT_EQ(trained.test.right, whole.test.right);
  EXPECT_EQ(trained.train.right, whole.test.right);
  EXPECT_EQ(trained.train.samples, 50);
}

class Speaking : public train::TrainingEvent {
 public:
  using Moment = train::TrainingMoment;

  Speaking(std::string name, std::vector<std::string>* said)
      : name_(std::move(name)), said_(*said) {}

  Status BeforeRun(const Moment&) override { return Say("run"); }
  Status BeforeEpoch(const Moment& at) override {
    return Say(StrCat("epoch ", at.epoch));
  }
  Status BeforeTrainingSet(const Moment&) override { return Say("set"); }
  Status BeforeStep(const Moment& at) override {
    return Say(StrCat("step ", at.batch.size()));
  }
  Status AfterStep(const Moment& at) override {
    return Say(StrCat("stepped ", at.steps));
  }
  std::string StopAfterStep(const Moment&) override { return Ask("step"); }
  Status AfterTrainingSet(const Moment& at) override {
    return Say(StrCat("trained ", at.train.samples));
  }
  Status BeforeTestSet(const Moment&) override { return Say("test"); }
  Status BeforeInference(const Moment&) override { return Say("infer"); }
  Status AfterInference(const Moment&) override { return Say("inferred"); }
  Status AfterTestSet(const Moment& at) override {
    return Say(StrCat("tested ", at.test.samples));
  }
  Status AfterEpoch(const Moment&) override { return Say("epoch done"); }
  std::string StopAfterTest(const Moment&) override { return Ask("test"); }
  Status AfterRun(const Moment&) override { return Say("run done"); }

  std::string fails_at, stops_at;

 private:
  Status Say(const std::string& what) {
    said_.push_back(name_ + what);
    return what == fails_at ? DataLoss("event ", name_, "fails") : OkStatus();
  }
  std::string Ask(const std::string& where) {
    said_.push_back(StrCat(name_, "stop after ", where, "?"));
    return where == stops_at ? "it is enough" : "";
  }

  std::string name_;
  std::vector<std::string>& said_;
};

/// One step and one inference an epoch.
train::Training Short(CornersRun& subject,
                      std::vector<train::TrainingEvent*> events) {
  train::Training training = subject.Run(1);
  training.train.sampler = Got(train::OrderedSampler({50, 50}));
  training.test->sampler = training.train.sampler;
  training.events = std::move(events);
  return training;
}

TEST(TrainingEventTest, SeesThe14MomentsInOrder) {
  CornersRun subject("rate=0.1");
  std::vector<std::string> said;
  Speaking event("", &said);
  ASSERT_TRUE(train::Train(Short(subject, {&event})).ok());
  EXPECT_THAT(said, ElementsAre("run", "epoch 0", "set", "step 50", "stepped 1",
                                "stop after step?", "trained 50", "test",
                                "infer", "inferred", "tested 50", "epoch done",
                                "stop after test?", "run done"));
}

// Kills: an event that is begun and never ended, and one that is ended and was
// not begun.
TEST(TrainingEventTest, EndsWhatItBegan) {
  CornersRun subject("rate=0.1");
  std::vector<std::string> said;
  Speaking one("1 ", &said);
  Speaking two("2 ", &said);
  two.fails_at = "run";
  EXPECT_THAT(train::Train(Short(subject, {&one, &two})),
              Says("event 2 fails"));
  EXPECT_THAT(said, ElementsAre("1 run", "2 run", "1 run done"));

  said.clear();
  two.fails_at = "step 50";
  EXPECT_FALSE(train::Train(Short(subject, {&one, &two})).ok());
  EXPECT_EQ(said[said.size() - 2], "2 run done");
  EXPECT_EQ(said.back(), "1 run done");
}

TEST(TrainingEventTest, MayAskToStop) {
  CornersRun subject("rate=0.1");
  std::vector<std::string> said;
  Speaking event("", &said);
  event.stops_at = "step";
  train::Training training = subject.Run(5, {&event});
  train::Trained trained = Got(train::Train(training));
  EXPECT_EQ(trained.stop, "it is enough");
  EXPECT_EQ(trained.steps, 1);
  EXPECT_EQ(trained.test.samples, 0);
  EXPECT_EQ(said.back(), "run done");

  event.stops_at = "test";
  trained = Got(train::Train(training));
  EXPECT_EQ(trained.epochs, 1);
  EXPECT_EQ(trained.steps, 7);
}

/// 28 x 28 images, each class with a square of its own and samples with noise.
train::Dataset Squares(int64_t samples) {
  std::vector<float> x(static_cast<size_t>(samples * 28 * 28), 0);
  std::vector<int64_t> labels;
  core::Numbers numbers(3);
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t label = i % 10;
    labels.push_back(label);
    for (int64_t at = 0; at < 28 * 28; ++at) {
      const int64_t row = at / 28 - 3 - label / 4 * 8;
      const int64_t column = at % 28 - 1 - label % 4 * 7;
      const bool is_in = row >= 0 && row < 5 && column >= 0 && column < 5;
      x[static_cast<size_t>(i * 28 * 28 + at)] =
          static_cast<float>((is_in ? 1 : 0) + 0.3 * numbers.Share());
    }
  }
  return Got(train::Dataset::Of(Floats({samples, 1, 28, 28}, x),
                                Int64s({samples}, labels), 10));
}

TEST(TrainerTest, TrainsEachModel) {
  const train::Dataset squares = Squares(200);
  // The others are in network_test.cc, on smaller images.
  for (const std::string_view name : {"mlp", "lenet5", "small_cnn"}) {
    const train::NewModel made = Got(train::MakeModel(name, {.seed = 1}));
    const auto objective = Got(train::NetworkObjective::Load(
        Reference(), {Got(edit::WithLoss(*made.model, {})), made.parameters}));
    const auto optimizer =
        Got(train::MakeOptimizer({"adam", "pytorch", "rate=0.005"})).optimizer;
    train::Training training{*objective, *optimizer};
    training.train = {&squares, Got(train::ShuffledSampler({200, 20}, 1))};
    training.test =
        train::Samples{&squares, Got(train::OrderedSampler({200, 100}))};
    training.epochs = 4;
    const train::Trained trained = Got(train::Train(training));
    EXPECT_LE(trained.test.mean_loss(), 0.1) << name;
    EXPECT_GE(trained.test.accuracy(), 0.98) << name;
  }
}

TEST(StopTest, AtAnAccuracyAndOnNan) {
  CornersRun learns("rate=0.1");
  train::StopAtAccuracy enough(0.9);
  const train::Trained trained = Got(train::Train(learns.Run(50, {&enough})));
  EXPECT_LT(trained.epochs, 50);
  EXPECT_THAT(trained.stop, StartsWith("the test set came to an accuracy of"));

  CornersRun breaks("rate=0.1");
  breaks.objective->parameters()[0].value.mutable_elements<double>()[0] =
      std::numeric_limits<double>::quiet_NaN();
  const file::ScratchFolder folder;
  const std::filesystem::path kept = folder.path() / "gradients.safetensors";
  train::StopOnNan stop(kept);
  EXPECT_EQ(Got(train::Train(breaks.Run(50, {&stop}))).stop,
            "the loss of step 1 is NaN");
  const train::TensorFile gradients = Got(train::ReadTensorFile(kept));
  EXPECT_EQ(gradients.notes.at("step"), "1");
  EXPECT_TRUE(std::isnan(gradients.Find("w")->elements<double>()[0]));
}

TEST(StopTest, AtATimeAndWhenAsked) {
  CornersRun subject("rate=0.1");
  train::StopAtTime late(std::chrono::seconds(0));
  train::Training training = subject.Run(50, {&late});
  train::Trained trained = Got(train::Train(training));
  EXPECT_EQ(trained.steps, 1);
  EXPECT_EQ(trained.stop, "the run took its 0 s");

  std::atomic<bool> asked = true;
  train::StopWhenAsked stop(asked);
  training.events = {&stop};
  trained = Got(train::Train(training));
  EXPECT_EQ(trained.steps, 1);
  EXPECT_EQ(trained.stop, "it was asked to");
}

// Kills: parts that are weighted alike, and gradients that are not summed.
TEST(TrainerTest, MicroBatchesAreTheBatch) {
  CornersRun whole("rate=0.1");
  ASSERT_TRUE(train::Train(whole.Run(2)).ok());
  for (const int64_t most : {1, 3, 8, 100}) {
    CornersRun parts("rate=0.1");
    train::Training training = parts.Run(2);
    training.micro_batch = most;
    const train::Trained trained = Got(train::Train(training));
    EXPECT_EQ(trained.train.samples, 50);
    EXPECT_EQ(trained.steps, 14);
    for (size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(Weights(whole)[i], Weights(parts)[i], 1e-14) << most;
    }
  }
}

train::Trained Watched(CornersRun& run, int64_t epochs,
                       train::TrainingEvent* event) {
  return Got(train::Train(run.Run(epochs, {event})));
}

// Kills: samples of the test before, and those that are right.
TEST(WrongSamplesTest, AreThoseOfTheLastTest) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "wrong.csv";
  CornersRun run("rate=0.0001");
  train::WrongSamples wrong(path, run.dataset);
  for (const int64_t epochs : {1, 2}) {
    const train::Trained trained = Watched(run, epochs, &wrong);
    const int64_t n_wrong = trained.test.samples - trained.test.right;
    ASSERT_GT(n_wrong, 0);
    const std::string text = Got(file::ReadFile(path));
    EXPECT_THAT(text, StartsWith("sample,label,taken_for,score_of_label,"
                                 "score\n"));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1 + n_wrong);
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      int64_t sample = 0, label = 0, taken = 0;
      char comma = 0;
      std::istringstream(line) >> sample >> comma >> label >> comma >> taken;
      EXPECT_EQ(label, sample % 3) << line;
      EXPECT_NE(taken, label) << line;
    }
  }
}

TEST(ProgressLineTest, SaysALineAnEpoch) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::ProgressLine progress(out, {.epochs = 2, .steps = 14});
  Watched(run, 2, &progress);
  EXPECT_THAT(out.str(),
              MatchesRegex("epoch 1/2: loss [0-9.]+, accuracy [0-9.]+; test "
                           "loss [0-9.]+, accuracy [0-9.]+\n"
                           "epoch 2/2: .*\n"));
  EXPECT_THAT(out.str(), Not(HasSubstr("\r")));
}

TEST(ProgressLineTest, LeavesNoLineOnATerminal) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::ProgressLine progress(out, {.is_terminal = true,
                                     .epochs = 1,
                                     .steps = 7,
                                     .between = std::chrono::milliseconds(0)});
  Watched(run, 1, &progress);
  EXPECT_THAT(out.str(), HasSubstr("epoch 1/1 step 7/7: loss "));
  EXPECT_THAT(out.str(), HasSubstr(" samples/s, 0 s left\r\033[Kepoch 1/1: "));
  for (std::string rest = out.str(); rest.find('\r') != std::string::npos;
       rest = rest.substr(rest.find('\r') + 1)) {
    EXPECT_LE(rest.find('\r'), 80U);
  }
}

TEST(MlperfLogTest, HasItsKeysInOrder) {
  std::ostringstream out;
  CornersRun run("rate=0.1");
  train::MlperfLog log(out, {{"submission_benchmark", "a \"b\""}});
  Watched(run, 1, &log);
  std::vector<std::string> keys;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(
        line, MatchesRegex(":::MLLOG \\{\"namespace\": \"\", \"time_ms\": "
                           "[0-9]+, \"event_type\": \"[A-Z_]+\", \"key\": "
                           "\"[a-z_]+\", \"value\": .*, \"metadata\": .*\\}"));
    const size_t at = line.find("\"key\": \"") + 8;
    keys.push_back(line.substr(at, line.find('"', at) - at));
  }
  EXPECT_THAT(out.str(), HasSubstr("\"value\": \"a \\\"b\\\"\""));
  EXPECT_THAT(
      keys, ::testing::ElementsAre("submission_benchmark", "run_start",
                                   "epoch_start", "eval_start", "eval_accuracy",
                                   "eval_stop", "epoch_stop", "run_stop"));
  EXPECT_THAT(out.str(), HasSubstr("{\"status\": \"success\"}"));
}

/// The rows behind the columns, without the seconds.
std::vector<std::string> Watched(const std::filesystem::path& path) {
  const std::string text = *file::ReadFile(path);
  std::string_view rest = text;
  EXPECT_EQ(CutFront(&rest), train::DatasetWatch::kColumns);
  std::vector<std::string> rows;
  while (!rest.empty()) {
    const std::string_view row = CutFront(&rest);
    rows.emplace_back(row.substr(0, row.rfind(',', row.rfind(',') - 1)));
  }
  return rows;
}

// Kills: samples that come twice and count as others; shares of the classes
// that are not those of the samples.
TEST(DatasetWatchTest, SaysWhatAnEpochWas) {
  const file::ScratchFolder folder;
  CornersRun run("rate=0.1");
  train::DatasetWatch watch(folder.path() / "a.csv", run.dataset);
  train::Training training = run.Run(2, {&watch});
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(folder.path() / "a.csv"),
              ElementsAre("0,7,50,50,0", "1,7,50,50,0"));

  // One sample again and again: of the 50 its class has 17.
  train::DatasetWatch narrow(folder.path() / "b.csv", run.dataset);
  training.epochs = 1;
  training.train.sampler = [](int64_t) {
    return std::vector<train::Batch>(4, train::Batch{3, 3});
  };
  training.events = {&narrow};
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(folder.path() / "b.csv"), ElementsAre("0,4,8,1,0.66"));
}

TEST(DatasetWatchTest, GoesOnWithItsFile) {
  const file::ScratchFolder folder;
  const std::string columns(train::DatasetWatch::kColumns);
  const auto path = folder.Write(
      "a.csv", columns + "\n0,7,50,50,0,1,1\n1,7,50,50,0.5,1,1\n2,7");
  CornersRun run("rate=0.1");
  train::DatasetWatch watch(path, run.dataset);
  train::Training training = run.Run(2, {&watch});
  training.from.epoch = 1;
  ASSERT_TRUE(train::Train(training).ok());
  EXPECT_THAT(Watched(path), ElementsAre("0,7,50,50,0", "1,7,50,50,0"));
  folder.Write("a.csv", "epoch\n");
  EXPECT_THAT(train::Train(training),
              Says("found the columns 'epoch', wanted 'epoch,batches"));
}

}  // namespace
}  // namespace assay::on_reference

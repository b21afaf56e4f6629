// SPDX-License-Identifier: Apache-2.0
//
// Whole training runs of the reference in float64.

#include "framework/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/file/scratch_folder.h"
#include "framework/train/checkpoint/tensor_file.h"
#include "framework/train/event/stop.h"
#include "framework/train/model/models.h"
#include "framework/train/on_reference/corners_fixture.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::on_reference {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<double> Weights(CornersRun& subject) {
  const auto w = subject.objective->parameters()[0].value.elements<double>();
  return {w.begin(), w.end()};
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

/// Says where it is called.
class Speaking : public train::TrainingEvent {
 public:
  Speaking(std::string name, std::vector<std::string>* said)
      : name_(std::move(name)), said_(*said) {}

  Status BeforeRun(const train::TrainingMoment&) override { return Say("run"); }
  Status BeforeEpoch(const train::TrainingMoment& at) override {
    return Say(StrCat("epoch ", at.epoch));
  }
  Status BeforeTrainingSet(const train::TrainingMoment&) override {
    return Say("set");
  }
  Status BeforeStep(const train::TrainingMoment& at) override {
    return Say(StrCat("step ", at.batch.size()));
  }
  Status AfterStep(const train::TrainingMoment& at) override {
    return Say(StrCat("stepped ", at.steps));
  }
  std::string StopAfterStep(const train::TrainingMoment&) override {
    return Ask("step");
  }
  Status AfterTrainingSet(const train::TrainingMoment& at) override {
    return Say(StrCat("trained ", at.train.samples));
  }
  Status BeforeTestSet(const train::TrainingMoment&) override {
    return Say("test");
  }
  Status BeforeInference(const train::TrainingMoment&) override {
    return Say("infer");
  }
  Status AfterInference(const train::TrainingMoment&) override {
    return Say("inferred");
  }
  Status AfterTestSet(const train::TrainingMoment& at) override {
    return Say(StrCat("tested ", at.test.samples));
  }
  Status AfterEpoch(const train::TrainingMoment&) override {
    return Say("epoch done");
  }
  std::string StopAfterTest(const train::TrainingMoment&) override {
    return Ask("test");
  }
  Status AfterRun(const train::TrainingMoment&) override {
    return Say("run done");
  }

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
  const auto trained = train::Train(Short(subject, {&one, &two}));
  EXPECT_THAT(trained.status().message(), HasSubstr("event 2 fails"));
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
  train::Training training = subject.Run(5);
  training.events = {&event};
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
  return Got(train::Dataset::Of(Got(Tensor::Of<float>({samples, 1, 28, 28}, x)),
                                Got(Tensor::Of<int64_t>({samples}, labels)),
                                10));
}

TEST(TrainerTest, TrainsEachModel) {
  const train::Dataset squares = Squares(200);
  // The others are in model_test.cc, on smaller images.
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
  train::Training training = learns.Run(50);
  training.events = {&enough};
  const train::Trained trained = Got(train::Train(training));
  EXPECT_LT(trained.epochs, 50);
  EXPECT_THAT(trained.stop, StartsWith("the test set came to an accuracy of"));

  CornersRun breaks("rate=0.1");
  breaks.objective->parameters()[0].value.mutable_elements<double>()[0] =
      std::numeric_limits<double>::quiet_NaN();
  const file::ScratchFolder folder;
  const std::filesystem::path kept = folder.path() / "gradients.safetensors";
  train::StopOnNan stop(kept);
  train::Training broken = breaks.Run(50);
  broken.events = {&stop};
  EXPECT_EQ(Got(train::Train(broken)).stop, "the loss of step 1 is NaN");
  const train::TensorFile gradients = Got(train::ReadTensorFile(kept));
  EXPECT_EQ(gradients.notes.at("step"), "1");
  EXPECT_TRUE(std::isnan(gradients.Find("w")->elements<double>()[0]));
}

TEST(StopTest, AtATimeAndWhenAsked) {
  CornersRun subject("rate=0.1");
  train::StopAtTime late(std::chrono::seconds(0));
  train::Training training = subject.Run(50);
  training.events = {&late};
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

}  // namespace
}  // namespace assay::on_reference

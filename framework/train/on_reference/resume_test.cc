// SPDX-License-Identifier: Apache-2.0
//
// Runs that are stopped and go on, beside those that were not stopped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/edit/training.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/event/csv_files.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::on_reference {
namespace {

using ::testing::HasSubstr;

class StopBehind : public train::TrainingEvent {
 public:
  explicit StopBehind(int64_t steps) : steps_(steps) {}
  std::string StopAfterStep(const train::TrainingMoment& moment) override {
    return moment.steps == steps_ ? "enough" : "";
  }

 private:
  int64_t steps_;
};

struct Row {
  const char* name;
  const char* optimizer;
  int64_t micro_batch;
  int64_t stops;  // behind so many of its 21 steps
  std::string network = kLinear;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class ResumeTest : public ::testing::TestWithParam<Row> {
 protected:
  /// A run of three epochs of seven batches, with a rate that halves amid each.
  std::unique_ptr<CornersRun> New() const {
    auto run = std::make_unique<CornersRun>(
        "rate=0.1", edit::Loss::kSoftmaxCrossEntropy, GetParam().network);
    train::Recipe recipe;
    recipe.schedule = train::StepSchedule(0.5, {4, 11, 17});
    run->optimizer =
        Got(train::MakeOptimizer({GetParam().optimizer, "paper", ""}, recipe))
            .optimizer;
    return run;
  }

  train::Training Of(CornersRun& run,
                     std::vector<train::TrainingEvent*> events) const {
    train::Training training = run.Run(3);
    training.micro_batch = GetParam().micro_batch;
    training.events = std::move(events);
    return training;
  }

  static std::vector<std::string> Bits(CornersRun& run) {
    std::vector<std::string> bits;
    const auto add = [&](const std::string& name, const Tensor& tensor) {
      bits.push_back(name + " ");
      for (const std::byte byte : tensor.bytes()) {
        bits.back() += StrCat(static_cast<int>(byte), ".");
      }
    };
    for (const train::Parameter& p : run.objective->parameters()) {
      add(p.name, p.value);
    }
    for (const train::StateTensor& s : StateOf(run)) {
      add(s.parameter + s.name, s.value);
    }
    return bits;
  }

  static std::vector<train::StateTensor> StateOf(CornersRun& run) {
    std::vector<train::StateTensor> state = run.optimizer->State();
    for (train::StateTensor& each : run.objective->Statistics()) {
      state.push_back(std::move(each));
    }
    return state;
  }

  file::ScratchFolder folder_;
  std::filesystem::path path_ = folder_.path() / "checkpoint.safetensors";
};

// Kills: a batch that is left out or taken twice, state that begins anew, a
// step that counts from 1 again, a score that forgets what came before, a test
// set that is left out.
TEST_P(ResumeTest, HasTheBitsOfARunThatWasNotStopped) {
  const auto straight = New();
  const train::Trained wanted = Got(train::Train(Of(*straight, {})));

  const auto first = New();
  train::Checkpoints keeps({.path = path_, .identity = {}, .more = [&] {
                              return first->objective->Statistics();
                            }});
  StopBehind stop(GetParam().stops);
  ASSERT_EQ(Got(train::Train(Of(*first, {&keeps, &stop}))).stop, "enough");

  const auto second = New();
  const train::Checkpoint kept = Got(train::ReadCheckpoint(path_));
  ASSERT_TRUE(second->optimizer->Begin(second->objective->parameters()).ok());
  std::vector<train::StateTensor> state = StateOf(*second);
  const Status restored =
      train::Restore(kept, second->objective->parameters(), state);
  ASSERT_TRUE(restored.ok()) << restored.ToString();
  train::Training rest = Of(*second, {});
  rest.from = kept.standing;
  const train::Trained trained = Got(train::Train(rest));
  EXPECT_EQ(trained.steps, 21);
  EXPECT_EQ(trained.train.samples, wanted.train.samples);
  EXPECT_EQ(trained.train.right, wanted.train.right);
  EXPECT_EQ(trained.train.loss, wanted.train.loss);
  EXPECT_EQ(trained.test.right, wanted.test.right);
  EXPECT_EQ(trained.test.loss, wanted.test.loss);
  EXPECT_EQ(Bits(*second), Bits(*straight));
}

INSTANTIATE_TEST_SUITE_P(
    All, ResumeTest,
    ::testing::Values(
        Row{"amid_the_first", "momentum", 0, 3},
        Row{"amid_the_second", "adam", 0, 11},
        Row{"behind_an_epoch", "adam", 0, 14},
        Row{"in_the_last", "accelegrad", 0, 20}, Row{"in_parts", "lamb", 3, 9},
        Row{"normalized_amid_an_epoch", "momentum", 0, 10, kNormalized},
        Row{"normalized_behind_an_epoch", "adam", 0, 7, kNormalized},
        Row{"normalized_in_parts", "adam", 3, 9, kNormalized}),
    [](const auto& info) { return info.param.name; });

// Kills: a checkpoint of a run that failed amid a step.
TEST(CheckpointsTest, KeepsNothingOfAFailedStep) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "checkpoint.safetensors";
  class Fails : public train::TrainingEvent {
   public:
    Status AfterStep(const train::TrainingMoment& moment) override {
      return moment.steps == 3 ? Internal("broken") : OkStatus();
    }
  } fails;
  CornersRun run("rate=0.1");
  train::Checkpoints keeps({.path = path, .every = 2});
  ASSERT_FALSE(train::Train(run.Run(3, {&keeps, &fails})).ok());
  const train::Checkpoint kept = Got(train::ReadCheckpoint(path));
  EXPECT_EQ(kept.standing.steps, 2);
  EXPECT_EQ(kept.standing.batches, 2);
}

/// Takes the folder of a checkpoint away behind a step, once one is written
/// there; waits behind each later step, so that a write can come to its end
/// before the next.
class TakesAway : public train::TrainingEvent {
 public:
  TakesAway(std::filesystem::path checkpoint, int64_t step)
      : checkpoint_(std::move(checkpoint)), step_(step) {}
  Status AfterStep(const train::TrainingMoment& moment) override {
    steps = moment.steps;
    if (steps > step_) Wait();
    if (steps != step_) return OkStatus();
    while (!std::filesystem::exists(checkpoint_)) Wait();
    std::filesystem::remove_all(checkpoint_.parent_path());
    return OkStatus();
  }
  int64_t steps = 0;

 private:
  static void Wait() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  std::filesystem::path checkpoint_;
  int64_t step_;
};

// Kills: a failed write that the run does not learn of until it is over.
TEST(CheckpointsTest, EndsARunThatCannotBeKept) {
  const file::ScratchFolder folder;
  const auto runs = folder.path() / "run";
  ASSERT_TRUE(file::MakeDirectory(runs).ok());
  CornersRun run("rate=0.1");
  const auto path = runs / "checkpoint.safetensors";
  train::Checkpoints keeps({.path = path, .every = 40});
  TakesAway away(path, 39);
  EXPECT_THAT(
      train::Train(run.Run(30, {&keeps, &away})),
      IsStatus(StatusCode::kResourceExhausted, "checkpoint.safetensors"));
  EXPECT_LT(away.steps, 80);  // where the next checkpoint is due
}

TEST(CheckpointsTest, TellsWhatTheLastWriteCameTo) {
  const file::ScratchFolder folder;
  const auto runs = folder.path() / "run";
  ASSERT_TRUE(file::MakeDirectory(runs).ok());
  CornersRun run("rate=0.1");
  const auto path = runs / "checkpoint.safetensors";
  train::Checkpoints keeps({.path = path, .every = 1000});
  TakesAway away(path, 7);  // the last step of the only epoch
  EXPECT_THAT(train::Train(run.Run(1, {&keeps, &away})),
              Says("checkpoint.safetensors"));
}

TEST(CheckpointTest, IsOfOneRun) {
  CornersRun run("rate=0.1");
  train::Checkpoint kept;
  kept.identity = {{"model", "mlp"}, {"seed", "1"}};
  EXPECT_TRUE(train::CheckIdentity(kept, {{"model", "mlp"}}).ok());
  EXPECT_THAT(train::CheckIdentity(kept, {{"seed", "2"}}),
              Says("seed '1', wanted '2'"));
  const auto parameters = run.objective->parameters();
  EXPECT_THAT(train::Restore(kept, parameters, {}),
              Says("found no parameter:w in the checkpoint"));
  kept.parameters = {{"w", Doubles({7})}, {"b", parameters[1].value}};
  EXPECT_THAT(train::Restore(kept, parameters, {}),
              Says("found parameter:w of float64[1] in the checkpoint"));
  EXPECT_EQ(parameters[0].value.elements<double>()[0], 0.5);
  kept.parameters = {{"w", parameters[0].value},
                     {"b", parameters[1].value},
                     {"c", parameters[1].value}};
  EXPECT_THAT(train::Restore(kept, parameters, {}),
              Says("which the run does not have"));
}

TEST(TrainerTest, GoesOnWhereARunWas) {
  CornersRun run("rate=0.1");
  train::Training training = run.Run(1);
  training.from.batches = 8;
  EXPECT_THAT(train::Train(training),
              Says("had done 8 batches of an epoch, wanted at most its 7"));
}

// Kills: rows of steps that are taken again; a row that was cut by a kill.
TEST(CurveFileTest, GoesOnWithItsFile) {
  const file::ScratchFolder folder;
  const auto path = folder.path() / "curves.csv";
  CornersRun run("rate=0.1");
  train::CurveFile curves(path, 2);
  ASSERT_TRUE(train::Train(run.Run(2, {&curves})).ok());
  const std::string whole = Got(file::ReadFile(path));
  EXPECT_EQ(std::ranges::count(whole, '\n'), 1 + 7 + 2);
  EXPECT_THAT(whole, HasSubstr("\n1,14,100,"));

  ASSERT_TRUE(file::WriteFile(path, whole + "1,15,1").ok());
  CornersRun again("rate=0.1");
  train::CurveFile more(path, 2);
  train::Training rest = again.Run(2, {&more});
  rest.from.epoch = 1;
  rest.from.steps = 7;
  ASSERT_TRUE(train::Train(rest).ok());
  const std::string went_on = Got(file::ReadFile(path));
  EXPECT_EQ(std::ranges::count(went_on, '\n'), 1 + 7 + 2);
  EXPECT_THAT(went_on, HasSubstr("\n1,14,100,"));

  ASSERT_TRUE(file::WriteFile(path, "step,loss\n").ok());
  EXPECT_THAT(train::Train(rest), Says("found the columns 'step,loss'"));
}

}  // namespace
}  // namespace assay::on_reference

// SPDX-License-Identifier: Apache-2.0
//
// LeNet-5 that ranks train together beside the same one that one rank trains on
// whole batches.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/edit/training.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/ranks/threads/threads.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/data/dataset.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"
#include "framework/train/network_objective.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/rule/optimizers.h"

namespace assay::on_reference {
namespace {

constexpr int64_t kAllImages = 42, kBatch = 16;  // 16, 16 and 10

std::unique_ptr<train::NetworkObjective> LeNet() {
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  const train::NewModel made = Got(train::MakeModel("lenet5", {.seed = 1}));
  return Got(train::NetworkObjective::Load(
      Reference(), Got(train::TraineeOf(made, loss, /*seed=*/1))));
}

std::vector<float> NumbersOf(train::Objective& objective) {
  std::vector<float> all;
  for (const train::Parameter& each : objective.parameters()) {
    const auto elements = each.value.elements<float>();
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

double Apart(const std::vector<float>& a, const std::vector<float>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += std::pow(double{a[i]} - double{b[i]}, 2);
  }
  return std::sqrt(squares);
}

/// The parameters of each rank behind an epoch.
std::vector<std::vector<float>> TrainedBy(int ranks) {
  const train::Dataset images = Got(train::DrawnImages(kAllImages, /*seed=*/1));
  const std::vector<train::Batch> batches = Got(
      train::ShuffledSampler({kAllImages, kBatch}, /*seed=*/7))(/*epoch=*/0);
  std::vector<std::unique_ptr<train::NetworkObjective>> networks;
  for (int rank = 0; rank < ranks; ++rank) networks.push_back(LeNet());
  const auto ended = ranks::RunThreads(ranks, [&](Endpoint& mine) -> Status {
    train::NetworkObjective& network =
        *networks[static_cast<size_t>(mine.rank())];
    ranks::SharedObjective shared(
        network, [&](std::span<const int64_t> samples) -> Status {
          const train::Batch own(samples.begin(), samples.end());
          std::vector<Tensor> batch(2);
          ASSAY_ASSIGN_OR_RETURN(batch[0], images.Inputs(own));
          ASSAY_ASSIGN_OR_RETURN(batch[1], images.OneHot(own, DType::kFloat32));
          return network.Put(batch);
        });
    ASSAY_ASSIGN_OR_RETURN(
        train::Made made,
        train::MakeOptimizer({"momentum", "pytorch", "rate=0.05"}));
    ranks::AllReduceScheme scheme(mine, std::move(made.optimizer),
                                  {ranks::Algorithm::kRing});
    for (const train::Batch& batch : batches) {
      shared.Take(ranks::ShareOf(batch, mine.rank(), mine.size()));
      ASSAY_RETURN_IF_ERROR(scheme.Step(shared).status());
    }
    return OkStatus();
  });
  std::vector<std::vector<float>> trained;
  for (size_t rank = 0; rank < networks.size(); ++rank) {
    EXPECT_TRUE(ended[rank].ok()) << ended[rank].ToString();
    trained.push_back(NumbersOf(*networks[rank]));
  }
  return trained;
}

TEST(RanksTest, LeNetTakesTheStepsOfTheLargeBatch) {
  const std::vector<float> start = NumbersOf(*LeNet());
  const std::vector<float> alone = TrainedBy(1)[0];
  const double way = Apart(alone, start);
  ASSERT_GT(way, 0.01);
  for (const int ranks : {2, 4, 8}) {
    const std::vector<std::vector<float>> trained = TrainedBy(ranks);
    for (const std::vector<float>& each : trained) {
      EXPECT_EQ(each, trained[0]) << ranks;
    }
    // Sums of float32 in another order: a few roundings, 2^-24 each, of a
    // gradient.
    EXPECT_LT(Apart(trained[0], alone), 1e-5 * way) << ranks;
  }
}

/// Three numbers whose gradient of a sample is a multiple of 90 and its own: no
/// order of additions shows, nor a division by a power of two, by 3, or by 5
/// and then by 3.
class WholeSamples : public train::Objective {
 public:
  WholeSamples() {
    parameters_.push_back({"w", Floats({1, 2, -1})});
    gradients_.push_back(Got(Tensor::Allocate(DType::kFloat32, {3})));
  }
  Status Put(std::span<const int64_t> samples) {
    samples_.assign(samples.begin(), samples.end());
    return OkStatus();
  }
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    const auto gradient = gradients_[0].mutable_elements<float>();
    for (size_t e = 0; e < gradient.size(); ++e) {
      gradient[e] = 0;
      for (const int64_t sample : samples_) {
        gradient[e] += static_cast<float>(
            90 * ((sample * 7 + static_cast<int64_t>(e) * 3) % 9 - 4));
      }
      gradient[e] /= static_cast<float>(samples_.size());
    }
    return train::Evaluation{0, gradients_};
  }

 private:
  std::vector<int64_t> samples_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

Status Keep(train::Objective& objective, train::Optimizer& optimizer,
            const std::filesystem::path& file) {
  train::Checkpoint now;
  now.parameters.assign(objective.parameters().begin(),
                        objective.parameters().end());
  now.state = optimizer.State();
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, train::CheckpointBytes(now));
  return file::WriteFile(file, bytes);
}

/// Steps `from` to `to` of so many ranks, from the checkpoint where there is
/// one.
struct Part {
  int ranks = 1;
  int64_t from = 0, to = 0;
  int64_t lost_at = -1;  // the step in which the last rank is lost, if one is
};

struct Ended {
  std::vector<std::vector<float>> numbers;  // of each rank
  std::vector<Status> ends;
};

/// The first rank writes a checkpoint behind each step.
Ended TrainedBy(const Part& part, const std::filesystem::path& file) {
  constexpr int64_t kWhole = 16;
  Ended trained;
  trained.numbers.resize(static_cast<size_t>(part.ranks));
  trained.ends = ranks::RunThreads(part.ranks, [&](Endpoint& mine) -> Status {
    WholeSamples own;
    ASSAY_ASSIGN_OR_RETURN(train::Made made,
                           train::MakeOptimizer({"momentum", "pytorch",
                                                 "rate=0.125 momentum=0.5"}));
    train::Optimizer& optimizer = *made.optimizer;
    ASSAY_RETURN_IF_ERROR(optimizer.Begin(own.parameters()));
    if (part.from > 0) {
      ASSAY_ASSIGN_OR_RETURN(const train::Checkpoint kept,
                             train::ReadCheckpoint(file));
      auto state = optimizer.State();
      ASSAY_RETURN_IF_ERROR(train::Restore(kept, own.parameters(), state));
    }
    ranks::SharedObjective shared(own, [&](std::span<const int64_t> samples) {
      return own.Put(samples);
    });
    ranks::AllReduceScheme scheme(mine, std::move(made.optimizer),
                                  {ranks::Algorithm::kRing});
    for (int64_t step = part.from; step < part.to; ++step) {
      if (step == part.lost_at && mine.rank() == mine.size() - 1) {
        return Unavailable("the rank is lost");
      }
      train::Batch batch(kWhole);
      std::iota(batch.begin(), batch.end(), kWhole * step);
      shared.Take(ranks::ShareOf(batch, mine.rank(), mine.size()));
      ASSAY_RETURN_IF_ERROR(scheme.Step(shared).status());
      if (mine.rank() == 0) ASSAY_RETURN_IF_ERROR(Keep(own, optimizer, file));
    }
    trained.numbers[static_cast<size_t>(mine.rank())] = NumbersOf(own);
    return OkStatus();
  });
  return trained;
}

std::vector<std::vector<float>> Trained(const Part& part,
                                        const std::filesystem::path& file) {
  const Ended trained = TrainedBy(part, file);
  for (const Status& each : trained.ends) {
    EXPECT_TRUE(each.ok()) << each.ToString();
  }
  return trained.numbers;
}

TEST(RanksTest, ARunGoesOnWithTheBitsItHadOnOtherNumbersOfRanks) {
  const file::ScratchFolder folder;
  const std::vector<float> whole =
      Trained({.ranks = 4, .to = 8}, folder.path() / "whole.safetensors")[0];
  for (const int ranks : {1, 2, 3, 8, 16}) {
    const auto file = folder.path() / "kept.safetensors";
    ASSERT_NE(Trained({.ranks = 4, .to = 3}, file)[0], whole);
    for (const std::vector<float>& each :
         Trained({.ranks = ranks, .from = 3, .to = 8}, file)) {
      EXPECT_EQ(each, whole) << ranks;
    }
  }
}

// Kills: a step that some ranks took without the one that is lost; a checkpoint
// of it.
TEST(RanksTest, TheSurvivorsOfALostRankGoOnWithTheBitsItHad) {
  const file::ScratchFolder folder;
  const auto file = folder.path() / "kept.safetensors";
  const std::vector<float> whole =
      Trained({.ranks = 4, .to = 8}, folder.path() / "whole.safetensors")[0];
  const Ended lost = TrainedBy({.ranks = 4, .to = 8, .lost_at = 5}, file);
  for (const Status& each : lost.ends) EXPECT_FALSE(each.ok());
  EXPECT_EQ(lost.ends.back().message(), "the rank is lost");
  for (const std::vector<float>& each :
       Trained({.ranks = 3, .from = 5, .to = 8}, file)) {
    EXPECT_EQ(each, whole);
  }
}

}  // namespace
}  // namespace assay::on_reference

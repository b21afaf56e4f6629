// SPDX-License-Identifier: Apache-2.0
//
// LeNet-5 that ranks train together beside the same one that one rank trains on whole
// batches.

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

#include "conformance/training/linear_network.h"
#include "framework/core/numbers.h"
#include "framework/dist/scheme/scheme.h"
#include "framework/dist/share/shared_objective.h"
#include "framework/dist/threads/threads.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/graph/edit/training.h"
#include "framework/train/checkpoint/checkpoint.h"
#include "framework/train/data/dataset.h"
#include "framework/train/data/sampler.h"
#include "framework/train/model/models.h"
#include "framework/train/network_objective.h"
#include "framework/train/rule/optimizers.h"

namespace assay::training {
namespace {

constexpr int64_t kSamples = 42, kBatch = 16;  // 16, 16 and 10

train::Dataset Noise() {
  std::vector<float> x(static_cast<size_t>(kSamples * 28 * 28));
  std::vector<int64_t> labels;
  core::Numbers numbers(1);
  for (float& pixel : x) pixel = static_cast<float>(numbers.Share());
  for (int64_t i = 0; i < kSamples; ++i) labels.push_back(i % 10);
  return Got(
      train::Dataset::Of(Got(Tensor::Of<float>({kSamples, 1, 28, 28}, x)),
                         Got(Tensor::Of<int64_t>({kSamples}, labels)), 10));
}

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
  const train::Dataset images = Noise();
  const std::vector<train::Batch> batches =
      Got(train::ShuffledSampler({kSamples, kBatch}, /*seed=*/7))(/*epoch=*/0);
  std::vector<std::unique_ptr<train::NetworkObjective>> networks;
  for (int rank = 0; rank < ranks; ++rank) networks.push_back(LeNet());
  const auto ended = dist::RunThreads(ranks, [&](Endpoint& mine) -> Status {
    train::NetworkObjective& network =
        *networks[static_cast<size_t>(mine.rank())];
    dist::SharedObjective shared(
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
    dist::AllReduceScheme scheme(mine, std::move(made.optimizer),
                                 {dist::Algorithm::kRing});
    for (const train::Batch& batch : batches) {
      shared.Take(dist::ShareOf(batch, mine.rank(), mine.size()));
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
    // Sums of float32 in another order: a few roundings, 2^-24 each, of a gradient.
    EXPECT_LT(Apart(trained[0], alone), 1e-5 * way) << ranks;
  }
}

/// Three numbers whose gradient of a sample is whole and its own: no order of additions
/// shows, nor a division by a power of two.
class WholeSamples : public train::Objective {
 public:
  WholeSamples() {
    parameters_.push_back(
        {"w", Got(Tensor::Of<float>({3}, std::vector<float>{1, 2, -1}))});
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
            (sample * 7 + static_cast<int64_t>(e) * 3) % 9 - 4);
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

/// Steps `from` to `to` of so many ranks, from the checkpoint where there is one; the first
/// rank writes one behind them. Returns the parameters of each rank.
std::vector<std::vector<float>> Trained(int ranks, int64_t from, int64_t to,
                                        const std::filesystem::path& file) {
  constexpr int64_t kWhole = 16;
  std::vector<std::vector<float>> trained(static_cast<size_t>(ranks));
  const auto ended = dist::RunThreads(ranks, [&](Endpoint& mine) -> Status {
    WholeSamples own;
    ASSAY_ASSIGN_OR_RETURN(train::Made made,
                           train::MakeOptimizer({"momentum", "pytorch",
                                                 "rate=0.125 momentum=0.5"}));
    train::Optimizer& optimizer = *made.optimizer;
    ASSAY_RETURN_IF_ERROR(optimizer.Begin(own.parameters()));
    if (from > 0) {
      ASSAY_ASSIGN_OR_RETURN(const train::Checkpoint kept,
                             train::ReadCheckpoint(file));
      auto state = optimizer.State();
      ASSAY_RETURN_IF_ERROR(train::Restore(kept, own.parameters(), state));
    }
    dist::SharedObjective shared(own, [&](std::span<const int64_t> samples) {
      return own.Put(samples);
    });
    dist::AllReduceScheme scheme(mine, std::move(made.optimizer),
                                 {dist::Algorithm::kRing});
    for (int64_t step = from; step < to; ++step) {
      train::Batch batch(kWhole);
      std::iota(batch.begin(), batch.end(), kWhole * step);
      shared.Take(dist::ShareOf(batch, mine.rank(), mine.size()));
      ASSAY_RETURN_IF_ERROR(scheme.Step(shared).status());
    }
    trained[static_cast<size_t>(mine.rank())] = NumbersOf(own);
    if (mine.rank() != 0) return OkStatus();
    train::Checkpoint now;
    now.parameters.assign(own.parameters().begin(), own.parameters().end());
    now.state = optimizer.State();
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                           train::CheckpointBytes(now));
    return file::WriteFile(file, bytes);
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  return trained;
}

TEST(RanksTest, ARunGoesOnWithTheBitsItHadOnOtherNumbersOfRanks) {
  const file::ScratchFolder folder;
  const std::vector<float> whole =
      Trained(4, 0, 8, folder.path() / "whole.safetensors")[0];
  for (const int ranks : {1, 2, 8, 16}) {
    const auto file = folder.path() / "kept.safetensors";
    ASSERT_NE(Trained(4, 0, 3, file)[0], whole);
    for (const std::vector<float>& each : Trained(ranks, 3, 8, file)) {
      EXPECT_EQ(each, whole) << ranks;
    }
  }
}

}  // namespace
}  // namespace assay::training

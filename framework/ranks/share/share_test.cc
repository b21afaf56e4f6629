// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/share/share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "framework/ranks/scheme/scheme_fixture.h"

namespace assay::ranks {
namespace {

std::vector<int64_t> Batch(int64_t samples) {
  std::vector<int64_t> batch(static_cast<size_t>(samples));
  std::iota(batch.begin(), batch.end(), 10);
  return batch;
}

TEST(ShareTest, HasEverySampleOnceAndItsPartOfTheMean) {
  for (int64_t samples = 0; samples < 20; ++samples) {
    for (int ranks = 1; ranks < 10; ++ranks) {
      std::vector<int64_t> all;
      double weights = 0;
      const int64_t even = samples / ranks;
      for (int rank = 0; rank < ranks; ++rank) {
        const Share share = ShareOf(Batch(samples), rank, ranks);
        const int64_t size = std::ssize(share.samples);
        EXPECT_TRUE(size == even || size == even + 1)
            << samples << " " << ranks;
        all.insert(all.end(), share.samples.begin(), share.samples.end());
        weights += share.weight;
      }
      EXPECT_EQ(all, Batch(samples)) << ranks;
      EXPECT_NEAR(weights, samples == 0 ? 0 : ranks, 1e-12) << samples;
    }
  }
}

/// w, whose gradient of a sample is the sample less w.
class Pulled : public train::Objective {
 public:
  Pulled() {
    parameters_.push_back(
        {"w", Tensor::Of<double>({1}, std::vector{0.5}).value()});
    gradients_.push_back(Tensor::Allocate(DType::kFloat64, {1}).value());
  }
  Status Put(std::span<const int64_t> samples) {
    samples_.assign(samples.begin(), samples.end());
    return OkStatus();
  }
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override {
    const double sum = std::accumulate(samples_.begin(), samples_.end(), 0.0);
    const double mean = sum / static_cast<double>(samples_.size());
    gradients_[0].mutable_elements<double>()[0] = mean - w();
    return train::Evaluation{mean, gradients_};
  }
  double w() const { return parameters_[0].value.elements<double>()[0]; }

 private:
  std::vector<int64_t> samples_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

// Two batches with a remainder, and one of fewer samples than ranks.
constexpr int64_t kBatches[] = {11, 8, 2};

TEST(SharedObjectiveTest, RanksTakeTheStepsOfOneWithWholeBatches) {
  Pulled alone;
  const auto optimizer = Made("gradient_descent");
  for (const int64_t samples : kBatches) {
    ASSERT_TRUE(alone.Put(Batch(samples)).ok());
    ASSERT_TRUE(optimizer->Step(alone).ok());
  }
  for (int ranks = 1; ranks <= 5; ++ranks) {
    const auto ended = RunThreads(ranks, [&](Endpoint& mine) -> Status {
      Pulled own;
      SharedObjective shared(
          own, [&](std::span<const int64_t> put) { return own.Put(put); });
      AllReduceScheme scheme(mine, Made("gradient_descent"),
                             {Algorithm::kRing});
      for (const int64_t samples : kBatches) {
        shared.Take(ShareOf(Batch(samples), mine.rank(), mine.size()));
        ASSAY_RETURN_IF_ERROR(scheme.Step(shared).status());
      }
      return own.w() > alone.w() - 1e-12 && own.w() < alone.w() + 1e-12
                 ? OkStatus()
                 : Internal("found ", own.w(), ", wanted ", alone.w());
    });
    EXPECT_THAT(ended, kAllWell);
  }
}

}  // namespace
}  // namespace assay::ranks

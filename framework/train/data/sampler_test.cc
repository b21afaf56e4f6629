// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> Joined(const std::vector<Batch>& batches) {
  std::vector<int64_t> all;
  for (const Batch& batch : batches) {
    EXPECT_FALSE(batch.empty());
    all.insert(all.end(), batch.begin(), batch.end());
  }
  return all;
}

std::vector<int64_t> Sorted(std::vector<int64_t> numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<int64_t> UpTo(int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(OrderedSamplerTest, GoesThroughTheDataset) {
  EXPECT_THAT(
      (*OrderedSampler({5, 2}))(3),
      ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT((*OrderedSampler({4, 2}))(0),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)))
      << "no batch is empty";
  EXPECT_THAT((*OrderedSampler({5, 2, true}))(0),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
}

// Kills: a sample that an epoch leaves out or has twice, as with Deep500's
// partitions; an order that is the same each epoch.
TEST(ShuffledSamplerTest, HasEachSampleOnceAnEpoch) {
  const Sampler sampler = *ShuffledSampler({1000, 64}, 7);
  std::vector<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(sampler(epoch).size(), 16U);
    orders.push_back(Joined(sampler(epoch)));
    EXPECT_EQ(Sorted(orders.back()), UpTo(1000));
    for (int64_t before = 0; before < epoch; ++before) {
      EXPECT_NE(orders[static_cast<size_t>(before)], orders.back());
    }
  }
  EXPECT_EQ((*ShuffledSampler({1000, 64}, 7))(2), sampler(2));
  EXPECT_NE((*ShuffledSampler({1000, 64}, 8))(2), sampler(2));
}

// Kills: an order that depends on the machine's library.
TEST(ShuffledTest, IsTheSameEverywhere) {
  EXPECT_THAT(Shuffled(8, 1), ElementsAre(4, 6, 3, 5, 1, 7, 2, 0));
}

// Kills: a shuffle that favours places. Each of 6 places has sample 0 in about
// a sixth of 6,000 orders; 5 sigma are 144.
TEST(ShuffledTest, FavoursNoPlace) {
  std::vector<int> counts(6, 0);
  for (uint64_t key = 0; key < 6000; ++key) {
    const auto order = Shuffled(6, key);
    ++counts[static_cast<size_t>(std::ranges::find(order, 0) - order.begin())];
  }
  for (const int count : counts) EXPECT_NEAR(count, 1000, 144);
}

TEST(BucketedSamplerTest, HasSamplesOfLikeLengthInABatch) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 100; ++i) lengths.push_back(i * 37 % 50);
  const Sampler sampler = *BucketedSampler({100, 8}, lengths, 3);
  EXPECT_EQ(Sorted(Joined(sampler(0))), UpTo(100));
  EXPECT_NE(sampler(0), sampler(1));
  for (const Batch& batch : sampler(0)) {
    const auto length = [&](int64_t i) {
      return lengths[static_cast<size_t>(i)];
    };
    const auto [least, most] = std::ranges::minmax(batch, {}, length);
    EXPECT_LE(length(most) - length(least), 4);
  }
}

// Kills: a weight that is not a probability.
TEST(WeightedSamplerTest, DrawsByWeight) {
  const std::vector<double> weights = {0, 1, 3, 0};
  const Sampler sampler = *WeightedSampler({4, 4}, weights, 5);
  std::vector<int> counts(4, 0);
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    for (const int64_t sample : Joined(sampler(epoch))) {
      ++counts[static_cast<size_t>(sample)];
    }
  }
  EXPECT_EQ(counts[0] + counts[3], 0);
  EXPECT_NEAR(counts[1], 1000, 137);  // 5 sigma
  EXPECT_EQ(counts[1] + counts[2], 4000);
}

TEST(SamplerTest, SaysWhatIsWrong) {
  struct Row {
    Result<Sampler> made;
    std::string_view message;
  };
  const std::vector<double> weights = {1, -1};
  const std::vector<double> zeros = {0, 0};
  const std::vector<int64_t> lengths = {1};
  for (const Row& row : {
           Row{OrderedSampler({0, 2}), "found 0 samples in batches of 2"},
           Row{OrderedSampler({2, 0}), "found 2 samples in batches of 0"},
           Row{ShuffledSampler({2, 3, true}, 0),
               "a batch is of 3 and the last"},
           Row{BucketedSampler({2, 1}, lengths, 0),
               "found 1 lengths, wanted 2"},
           Row{WeightedSampler({3, 1}, weights, 0),
               "found 2 weights, wanted 3"},
           Row{WeightedSampler({2, 1}, weights, 0),
               "found the weight -1 of sample 1, wanted 0 or more"},
           Row{WeightedSampler({2, 1}, zeros, 0), "all weights are 0"},
       }) {
    EXPECT_EQ(row.made.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(row.made.status().message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace assay::train

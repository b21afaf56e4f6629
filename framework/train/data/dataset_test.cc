// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::train {
namespace {

using ::testing::ElementsAre;

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
    EXPECT_THAT(row.made, IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

Dataset Pairs() {
  return *Dataset::Of(Floats({4, 2}, {0, 1, 10, 11, 20, 21, 30, 31}),
                      Int64s({2, 0, 0, 1}), 3);
}

TEST(DatasetTest, GathersBatches) {
  const Dataset pairs = Pairs();
  const Batch batch = {3, 0, 3};
  EXPECT_THAT(pairs.Inputs(batch)->elements<float>(),
              ElementsAre(30, 31, 0, 1, 30, 31));
  EXPECT_THAT(pairs.Labels(batch)->elements<int64_t>(), ElementsAre(1, 2, 1));
  EXPECT_THAT(pairs.OneHot({0, 1}, DType::kFloat64)->elements<double>(),
              ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_THAT(pairs.CountByClass(), ElementsAre(2, 1, 1));
  EXPECT_THAT(pairs.Inputs({4}), Says("found sample 4, wanted one of 4"));
  EXPECT_THAT(pairs.Labels({}), Says("found a batch of no samples"));
}

TEST(DatasetTest, SaysWhatIsWrong) {
  const Tensor inputs = *Tensor::Allocate(DType::kFloat32, {2, 3});
  const struct {
    Result<Dataset> made;
    std::string_view message;
  } rows[] = {
      {Dataset::Of(inputs, Int64s({0, 3}), 3),
       "found the label 3 of sample 1, wanted one in [0, 3)"},
      {Dataset::Of(inputs, Int64s({0, -1}), 3), "the label -1"},
      {Dataset::Of(inputs, Int64s({0}), 3),
       "found inputs float32[2,3] for 1 labels"},
      {Dataset::Of(inputs, inputs, 3), "found labels float32[2,3]"},
      {Dataset::Of(*Tensor::Allocate(DType::kFloat32, {0, 3}), Int64s({}), 3),
       "the dataset has no samples"},
      {Dataset::Of(*Tensor::Allocate(DType::kInt4, {2, 3}), Int64s({0, 1}), 3),
       "wanted elements of a byte at least"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(row.made, IsStatus(StatusCode::kInvalidArgument, row.message));
  }
}

// Kills: a split of a sorted dataset that leaves classes out, a sample in both
// parts, one in none.
TEST(StratifiedSplitTest, TakesTheShareOfEachClass) {
  std::vector<int64_t> labels;
  std::vector<int32_t> numbers;
  for (int i = 0; i < 100; ++i) {
    numbers.push_back(i);
    labels.push_back(i < 50 ? 0 : i < 90 ? 1 : 2);
  }
  const Dataset sorted =
      *Dataset::Of(*Tensor::Of<int32_t>({100}, numbers), Int64s(labels), 3);
  const auto split = Got(StratifiedSplit(sorted, 0.2, 1));
  EXPECT_THAT(split.test.CountByClass(), ElementsAre(10, 8, 2));
  EXPECT_THAT(split.train.CountByClass(), ElementsAre(40, 32, 8));
  std::vector<int32_t> both;
  for (const Dataset* part : {&split.train, &split.test}) {
    const auto own = part->inputs().elements<int32_t>();
    EXPECT_TRUE(std::ranges::is_sorted(own));
    both.insert(both.end(), own.begin(), own.end());
  }
  std::ranges::sort(both);
  EXPECT_EQ(both, numbers);
  const auto other = StratifiedSplit(sorted, 0.2, 2);
  EXPECT_FALSE(std::ranges::equal(split.test.inputs().bytes(),
                                  other->test.inputs().bytes()));
}

TEST(StratifiedSplitTest, SaysWhatIsWrong) {
  EXPECT_THAT(StratifiedSplit(Pairs(), 1, 0),
              Says("found the share 1, wanted one in (0, 1)"));
  EXPECT_THAT(StratifiedSplit(Pairs(), 0.1, 0),
              Says("leaves 4 samples to train and 0 to test"));
}

constexpr int64_t kCount = 10000;

template <class T>
std::vector<T> Drawn(uint64_t key, double ratio) {
  Tensor mask = *Tensor::Allocate(kDTypeOf<T>, {kCount});
  const Status drawn = DrawMask(key, ratio, &mask);
  EXPECT_TRUE(drawn.ok()) << drawn.ToString();
  const auto elements = mask.elements<T>();
  return {elements.begin(), elements.end()};
}

// Kills: a mask that is not scaled, one that keeps what it should drop, one of
// other elements in another type.
TEST(DropoutMaskTest, DropsAShareAndScalesTheRest) {
  for (const double ratio : {0.0, 0.1, 0.5, 0.9}) {
    const std::vector<double> wide = Drawn<double>(7, ratio);
    const std::vector<float> narrow = Drawn<float>(7, ratio);
    double dropped = 0;
    for (size_t i = 0; i < wide.size(); ++i) {
      EXPECT_EQ(narrow[i], static_cast<float>(wide[i]));
      if (wide[i] == 0) {
        ++dropped;
      } else {
        EXPECT_EQ(wide[i], 1 / (1 - ratio));
      }
    }
    // Five standard deviations of a share of 10000.
    EXPECT_NEAR(dropped / kCount, ratio, ratio == 0 ? 0 : 0.025);
  }
}

// Kills: a key that leaves out one of its parts.
TEST(DropoutMaskTest, IsOfItsKey) {
  EXPECT_EQ(Drawn<float>(MaskKey(1, 2, 3, "a"), 0.5),
            Drawn<float>(MaskKey(1, 2, 3, "a"), 0.5));
  const std::set<uint64_t> keys = {
      MaskKey(1, 2, 3, "a"),  MaskKey(2, 2, 3, "a"), MaskKey(1, 3, 3, "a"),
      MaskKey(1, 2, 4, "a"),  MaskKey(1, 2, 3, "b"), MaskKey(1, 3, 2, "a"),
      MaskKey(1, 2, 3, "ab"), MaskKey(1, 2, 3, "ba")};
  EXPECT_EQ(keys.size(), 8U);
  EXPECT_NE(Drawn<float>(MaskKey(1, 2, 3, "a"), 0.5),
            Drawn<float>(MaskKey(1, 3, 3, "a"), 0.5));
}

TEST(DropoutMaskTest, SaysWhatIsWrong) {
  Tensor mask = *Tensor::Allocate(DType::kFloat32, {2});
  for (const double ratio : {1.0, -0.5}) {
    EXPECT_THAT(DrawMask(1, ratio, &mask), Says("wanted a number of [0, 1)"));
  }
  Tensor half = *Tensor::Allocate(DType::kFloat16, {2});
  EXPECT_EQ(DrawMask(1, 0.5, &half).reason(), Reason::kDType);
}

}  // namespace
}  // namespace assay::train

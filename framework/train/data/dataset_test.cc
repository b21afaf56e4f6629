// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/testing/support/tensors_fixture.h"

namespace assay::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Pairs() {
  const std::vector<float> rows = {0, 1, 10, 11, 20, 21, 30, 31};
  return *Dataset::Of(*Tensor::Of<float>({4, 2}, rows), Int64s({2, 0, 0, 1}),
                      3);
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
  EXPECT_THAT(pairs.Inputs({4}).status().message(),
              HasSubstr("found sample 4, wanted one of 4"));
  EXPECT_THAT(pairs.Labels({}).status().message(),
              HasSubstr("found a batch of no samples"));
}

TEST(DatasetTest, SaysWhatIsWrong) {
  const Tensor rows = *Tensor::Allocate(DType::kFloat32, {2, 3});
  struct Row {
    Result<Dataset> made;
    std::string_view message;
  };
  for (const Row& row : {
           Row{Dataset::Of(rows, Int64s({0, 3}), 3),
               "found the label 3 of sample 1, wanted one in [0, 3)"},
           Row{Dataset::Of(rows, Int64s({0, -1}), 3), "the label -1"},
           Row{Dataset::Of(rows, Int64s({0}), 3),
               "found inputs float32[2,3] for 1 labels"},
           Row{Dataset::Of(rows, rows, 3), "found labels float32[2,3]"},
           Row{Dataset::Of(*Tensor::Allocate(DType::kFloat32, {0, 3}),
                           Int64s({}), 3),
               "the dataset has no samples"},
           Row{Dataset::Of(*Tensor::Allocate(DType::kInt4, {2, 3}),
                           Int64s({0, 1}), 3),
               "wanted elements of a byte at least"},
       }) {
    EXPECT_EQ(row.made.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(row.made.status().message(), HasSubstr(row.message));
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
  const auto split = StratifiedSplit(sorted, 0.2, 1);
  ASSERT_TRUE(split.ok()) << split.status().ToString();
  EXPECT_THAT(split->test.CountByClass(), ElementsAre(10, 8, 2));
  EXPECT_THAT(split->train.CountByClass(), ElementsAre(40, 32, 8));
  std::vector<int32_t> both;
  for (const Dataset* part : {&split->train, &split->test}) {
    const auto own = part->inputs().elements<int32_t>();
    EXPECT_TRUE(std::ranges::is_sorted(own));
    both.insert(both.end(), own.begin(), own.end());
  }
  std::ranges::sort(both);
  EXPECT_EQ(both, numbers);
  const auto other = StratifiedSplit(sorted, 0.2, 2);
  EXPECT_FALSE(std::ranges::equal(split->test.inputs().bytes(),
                                  other->test.inputs().bytes()));
}

TEST(StratifiedSplitTest, SaysWhatIsWrong) {
  EXPECT_THAT(StratifiedSplit(Pairs(), 1, 0).status().message(),
              HasSubstr("found the share 1, wanted one in (0, 1)"));
  EXPECT_THAT(StratifiedSplit(Pairs(), 0.1, 0).status().message(),
              HasSubstr("leaves 4 samples to train and 0 to test"));
}

}  // namespace
}  // namespace assay::train

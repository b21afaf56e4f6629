// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dropout_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace assay::train {
namespace {

using ::testing::HasSubstr;

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
    EXPECT_THAT(DrawMask(1, ratio, &mask).message(),
                HasSubstr("wanted a number of [0, 1)"));
  }
  Tensor half = *Tensor::Allocate(DType::kFloat16, {2});
  EXPECT_EQ(DrawMask(1, 0.5, &half).reason(), Reason::kDType);
}

}  // namespace
}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/core/status.h"

namespace assay::ranks {
namespace {

using ::testing::HasSubstr;

TEST(CollectiveTest, SaysWhatIsWrong) {
  Collective what{.ranks = 0};
  EXPECT_THAT(Check(what).message(), HasSubstr("found 0 ranks, wanted 1"));
  what.ranks = 3;
  what.count = -1;
  EXPECT_THAT(Check(what).message(), HasSubstr("found -1 elements, wanted 0"));
  what.count = 5;
  what.operation = Operation::kBroadcast;
  what.root = 3;
  EXPECT_THAT(Check(what).message(),
              HasSubstr("found the root 3, wanted a rank from 0 to 2"));
  what.root = 2;
  what.algorithm = Algorithm::kRing;
  EXPECT_EQ(Check(what).code(), StatusCode::kUnsupported);
  EXPECT_THAT(Check(what).message(),
              HasSubstr("found ring for broadcast, wanted linear, binomial"));
  EXPECT_EQ(CostOf(what).status().code(), StatusCode::kUnsupported);
}

TEST(CollectiveTest, RootIsOfThoseThatHaveOne) {
  const Collective what{.ranks = 3, .count = 1, .root = 7};
  EXPECT_TRUE(Check(what).ok());
  EXPECT_EQ(ToString(what), "allreduce/linear, 3 ranks, 1 elements");
  EXPECT_EQ(ToString(Collective{
                .operation = Operation::kGather, .ranks = 2, .root = 1}),
            "gather/linear, 2 ranks, 0 elements, root 1");
}

// The numbers that Open MPI's monitoring gave for 4 MB on 4 ranks, all ranks
// together.
TEST(CollectiveTest, CostsWhatWasSeenOnTheWire) {
  Collective what{.ranks = 4, .count = 1'000'000};
  const auto costs = [&](Algorithm algorithm) {
    what.algorithm = algorithm;
    return CostOf(what).value();
  };
  EXPECT_EQ(costs(Algorithm::kRing), (Cost{6'000'000, 24}));
  EXPECT_EQ(costs(Algorithm::kRecursiveDoubling), (Cost{8'000'000, 8}));
  EXPECT_EQ(costs(Algorithm::kRabenseifner), (Cost{6'000'000, 16}));
  EXPECT_EQ(costs(Algorithm::kLinear), (Cost{6'000'000, 6}));
}

}  // namespace
}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/losses.h"

#include <gtest/gtest.h>

#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"

namespace assay::distributed {
namespace {

Losses Of(const std::vector<double>& steps) {
  Losses losses;
  for (const double loss : steps) losses.Add(loss);
  return losses;
}

// Kills: the loss of one step for that of another, of one rank for that of all.
TEST(LossesTest, ARowHasTheMeansOfTheFirstAndOfTheLastStep) {
  DistributedRow row;
  AddLosses(std::vector{Of({4, 3, 1}), Of({6, 9, 2})}, &row);
  EXPECT_EQ(row.loss_first, 5);
  EXPECT_EQ(row.loss_last, 1.5);
}

TEST(LossesTest, ARowHasNoneWhereARankTookNoStep) {
  DistributedRow row;
  AddLosses(std::vector{Of({4, 3}), Of({})}, &row);
  EXPECT_FALSE(row.loss_first.has_value());
  EXPECT_FALSE(row.loss_last.has_value());
}

}  // namespace
}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conformance/distributed/ranks/distributed_row.h"

namespace assay::distributed {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(TellTest, LossesAndSimulatedTimeAreSaidWhereTheyAre) {
  DistributedRow row;
  row.scheme = "lenet5/train_all_reduce";
  row.collective = "ring";
  row.transport = "smpi";
  row.ranks = 4;
  const auto told = [&] {
    record::Record record;
    record.Add(row);
    return Tell({}, {}, record);
  };
  const auto ranks =
      Pair("ranks", "4 of smpi: lenet5/train_all_reduce by ring");
  EXPECT_THAT(told(), ElementsAre(ranks));
  row.loss_first = 2.5;
  row.loss_last = 0.25;
  row.simulated_us = 1536.5;
  EXPECT_THAT(told(),
              ElementsAre(ranks,
                          Pair("loss",
                               "2.5 before the first step, 0.25 before "
                               "the last"),
                          Pair("simulated", "1536.5 us by the clock of smpi")));
}

}  // namespace
}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/converge/samples_to.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "framework/backend/registry.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/format/datasets.h"

namespace assay::converge {
namespace {

Reached To(const Goal& goal, const char* settings, uint64_t seed) {
  static const train::Split data = Got(train::MakeDataset("drawn", {"", 0}));
  return Got(SamplesTo(goal, data, Reference(),
                       {"momentum", "pytorch", settings}, seed));
}

// Kills: samples of steps that are not taken; a test that comes late; an order
// that the seed does not give.
TEST(SamplesToTest, CountsUntilTheFirstTestThatIsGoodEnough) {
  const Goal goal{.model = "mlp", .accuracy = 0.9, .batch = 32, .every = 3};
  const Reached once = To(goal, "rate=0.01", 7);
  EXPECT_TRUE(once.is_reached);
  EXPECT_GE(once.accuracy, 0.9);
  EXPECT_EQ(once.samples % (3 * 32), 0);
  const Reached again = To(goal, "rate=0.01", 7);
  EXPECT_EQ(again.samples, once.samples);
  EXPECT_EQ(again.accuracy, once.accuracy);
  // With other numbers of samples between two tests the result is one of them.
  Goal often = goal;
  often.every = 1;
  const Reached sooner = To(often, "rate=0.01", 7);
  EXPECT_LE(sooner.samples, once.samples);
  EXPECT_GT(sooner.samples, once.samples - 3 * 32);
  EXPECT_GT(To(goal, "rate=0.001", 7).samples, once.samples);
}

// Kills: an epoch that has some samples twice.
TEST(SamplesToTest, GivesUpBehindTheLastEpoch) {
  const train::Split data = Got(train::MakeDataset("drawn", {"", 0}));
  const Goal goal{.model = "mlp", .accuracy = 1, .most_epochs = 2};
  const Reached reached = To(goal, "rate=1e-9", 1);
  EXPECT_FALSE(reached.is_reached);
  EXPECT_EQ(reached.samples, 2 * data.train.samples());
}

}  // namespace
}  // namespace assay::converge

// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/seeds.h"

#include <gtest/gtest.h>

namespace assay::reference {
namespace {

// Kills: a seed that is taken twice; seeds that go on after their scope, or
// instead of those around it.
TEST(Seeds, AreTakenInTheirScopeEachOnce) {
  Seeds outer(7), inner(70), again(7);
  const Seeds::Scope taking(&outer);
  const uint64_t first = NextSeed();
  {
    const Seeds::Scope within(&inner);
    EXPECT_EQ(NextSeed(), 70);
  }
  const uint64_t second = NextSeed();
  EXPECT_NE(first, second);
  EXPECT_EQ(first, again.Take());
  EXPECT_EQ(second, again.Take());
  EXPECT_EQ(Seeds::Current(), &outer);
}

TEST(Seeds, AreFreshWhereThereAreNone) {
  EXPECT_EQ(Seeds::Current(), nullptr);
  EXPECT_NE(NextSeed(), NextSeed());
}

}  // namespace
}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/vector_code.h"

#include <gtest/gtest.h>

#include <array>

namespace assay::roofs {
namespace {

constexpr size_t kSize = size_t{3} * kSizeStep;

struct alignas(64) Arrays {
  std::array<float, kSize> a = {}, b = {}, c = {};

  Memory memory() { return {a.data(), b.data(), c.data(), kSize}; }
};

/// Those of this machine, and the one of every machine.
std::vector<const VectorCode*> AllHere() {
  auto codes = CodesHere();
  codes.push_back(&PlainCode());
  return codes;
}

// Kills: a pass that leaves elements out, or a formula of fewer operations.
TEST(VectorCodeTest, TriadWritesEachElement) {
  for (const VectorCode* const code : AllHere()) {
    if (code->triad == nullptr) continue;
    Arrays arrays;
    for (size_t i = 0; i < kSize; ++i) {
      arrays.b[i] = static_cast<float>(i);
      arrays.c[i] = static_cast<float>(2 * i + 2);
    }
    code->triad(arrays.memory(), 2);
    for (size_t i = 0; i < kSize; ++i) {
      ASSERT_EQ(arrays.a[i], static_cast<float>(2 * i + 1))
          << code->name << " " << i;
    }
  }
}

// Kills: a set without arithmetic, a count of operations of another type.
TEST(VectorCodeTest, EachSetCountsItsOperations) {
  EXPECT_FALSE(CodesHere().empty());
  for (const VectorCode* const code : AllHere()) {
    Arrays arrays;
    if (code->read != nullptr) code->read(arrays.memory(), 3);
    for (const Chains* const chains :
         {&code->float32, &code->float64, &code->bfloat16, &code->int8}) {
      EXPECT_EQ(chains->run != nullptr, chains->operations > 0) << code->name;
      if (chains->run != nullptr) chains->run(10);
    }
    if (code->float64.run == nullptr) continue;
    EXPECT_EQ(code->float32.operations, 2 * code->float64.operations);
  }
}

}  // namespace
}  // namespace assay::roofs

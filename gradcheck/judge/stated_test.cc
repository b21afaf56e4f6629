// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/stated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/testing/support/drawn_fixture.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

// Kills: an element, an output, a target or a shape that is not looked at, and
// numbers that are near in the place of equal ones.
TEST(FaultOfStated, NamesTheFirstElementThatIsAnother) {
  constexpr DType kF32 = DType::kFloat32;
  const cases::Stated stated = {
      {Rounded(kF32, {2})},
      {{"w", Rounded(kF32, {-1, 4})}, {"x", Rounded(kF32, {-2})}}};
  const struct {
    const char* mutant;
    Value y, w, x;
    const char* fault;
  } rows[] = {
      {"all is a fault", Rounded(kF32, {2}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {-2}), ""},
      {"the types", Rounded(DType::kFloat64, {2}),
       Rounded(DType::kFloat16, {-1, 4}), Rounded(DType::kBFloat16, {-2}), ""},
      {"outputs", Rounded(kF32, {3}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {-2}), "output 0 is 3 at element 0, wanted 2"},
      {"elements", Rounded(kF32, {2}), Rounded(kF32, {-1, 4.001}),
       Rounded(kF32, {-2}), "'w' is 4.001 at element 1, wanted 4 as"},
      {"the last", Rounded(kF32, {2}), Rounded(kF32, {-1, 4}),
       Rounded(kF32, {2}), "'x' is 2 at element 0, wanted -2 as"},
      {"shapes", Rounded(kF32, {2}), Rounded(kF32, {-1}), Rounded(kF32, {-2}),
       "'w' is float32[1], wanted [2] as"},
      {"what is absent", Rounded(kF32, {2}), Value(), Rounded(kF32, {-2}),
       "no tensor"},
  };
  for (const auto& row : rows) {
    const std::vector<Value> gradients = {row.w, row.x};
    const std::string fault =
        FaultOfStated(stated, {"w", "x"}, {&row.y, 1}, gradients);
    EXPECT_THAT(fault, testing::HasSubstr(row.fault)) << row.mutant;
    EXPECT_EQ(fault.empty(), *row.fault == '\0') << row.mutant << fault;
    EXPECT_EQ(FaultOfStated({}, {"w", "x"}, {&row.y, 1}, gradients), "");
  }
}

}  // namespace
}  // namespace assay::gradcheck

// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/stated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

Value Of(DType type, const std::vector<double>& numbers) {
  return *TensorOf(type, {std::ssize(numbers)}, numbers);
}

// Kills: an element, an output, a target or a shape that is not looked at, and
// numbers that are near in the place of equal ones.
TEST(FaultOfStated, NamesTheFirstElementThatIsAnother) {
  constexpr DType kF32 = DType::kFloat32;
  const cases::Stated stated = {
      {Of(kF32, {2})}, {{"w", Of(kF32, {-1, 4})}, {"x", Of(kF32, {-2})}}};
  const struct {
    const char* mutant;
    Value y, w, x;
    const char* fault;
  } rows[] = {
      {"all is a fault", Of(kF32, {2}), Of(kF32, {-1, 4}), Of(kF32, {-2}), ""},
      {"the types", Of(DType::kFloat64, {2}), Of(DType::kFloat16, {-1, 4}),
       Of(DType::kBFloat16, {-2}), ""},
      {"outputs", Of(kF32, {3}), Of(kF32, {-1, 4}), Of(kF32, {-2}),
       "output 0 is 3 at element 0, wanted 2"},
      {"elements", Of(kF32, {2}), Of(kF32, {-1, 4.001}), Of(kF32, {-2}),
       "'w' is 4.001 at element 1, wanted 4 as"},
      {"the last", Of(kF32, {2}), Of(kF32, {-1, 4}), Of(kF32, {2}),
       "'x' is 2 at element 0, wanted -2 as"},
      {"shapes", Of(kF32, {2}), Of(kF32, {-1}), Of(kF32, {-2}),
       "'w' is float32[1], wanted [2] as"},
      {"what is absent", Of(kF32, {2}), Value(), Of(kF32, {-2}), "no tensor"},
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

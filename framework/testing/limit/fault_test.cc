// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/limit/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/testing/draw/draw.h"
#include "framework/testing/support/drawn_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::limit {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<double>;

constexpr double kU32 = 0x1p-24;  // the roundoff of float32
constexpr DType kF16 = DType::kFloat16;
constexpr DType kF32 = DType::kFloat32;
constexpr DType kF64 = DType::kFloat64;

/// What an oracle says of one element.
struct Said {
  double value = 1, bound = 0, units = 1, hard = 1;
};

measure::ExactAnswer AnswerOf(const Said& said) {
  measure::ExactAnswer answer;
  answer.value = Rounded(kF64, {said.value});
  answer.bound = Rounded(kF64, {said.bound});
  answer.units = Rounded(kF64, {said.units});
  answer.hard_units = Rounded(kF64, {said.hard});
  return answer;
}

std::string Fault(double got, const Said& said,
                  const OutputLimit& limit = {.type = kF32}) {
  return FaultOf(Rounded(limit.type, {got}), AnswerOf(said), limit);
}

// Kills: an output that a limit of conformance or of units lets pass, or stops,
// and what is said of it.
TEST(FaultOf, IsTheFirstOutputBeyondBothLimits) {
  EXPECT_EQ(Fault(1, {}), "");
  EXPECT_EQ(Fault(1 + 4 * kU32, {}), "");
  EXPECT_THAT(Fault(1 + 16 * kU32, {}), HasSubstr("element 0 is 1"));
  const OutputLimit wide = {.type = kF32, .rtol = 1e-3, .atol = 1e-3};
  EXPECT_EQ(Fault(10.01, {.value = 10}, wide), "");
  EXPECT_THAT(Fault(10.02, {.value = 10}, wide), HasSubstr("wanted 10 within"));
  EXPECT_THAT(Fault(1 + 16 * kU32, {}), HasSubstr("is 1.00000095,"));
  // 0.6 and a small product, rounded once: 0.59527 between 0.59375 and
  // 0.59765625.
  const OutputLimit short_type = {.type = DType::kBFloat16};
  const Said sum = {.value = 0.59527, .units = 1e-4, .hard = 1e-4};
  EXPECT_EQ(Fault(0.59375, sum, short_type), "");
  EXPECT_NE(Fault(0.58984375, sum, short_type), "");
  EXPECT_EQ(Fault(1.5, {.bound = 0.5}), "");
  EXPECT_EQ(Fault(99, {.bound = kInf}), "");
  EXPECT_NE(Fault(kNan, {}), "");
  EXPECT_NE(Fault(1, {.value = kNan}), "");
  EXPECT_EQ(Fault(kNan, {.value = kNan}), "");
  EXPECT_EQ(Fault(kInf, {.value = kInf}), "");
  EXPECT_NE(Fault(-kInf, {.value = kInf}), "");
  EXPECT_NE(Fault(1, {.value = kInf}, wide), "");
  const OutputLimit half = {.type = kF16};
  EXPECT_EQ(Fault(kInf, {.value = 70000}, half), "");
  EXPECT_NE(Fault(kInf, {.value = 60000}, half), "");
  EXPECT_NE(Fault(-kInf, {.value = 70000}, half), "");
  EXPECT_THAT(FaultOf(Rounded(kF32, {1, 2}), AnswerOf({}), {}),
              HasSubstr("float32[2], wanted [1]"));
  EXPECT_EQ(FaultOf(Rounded(kF32, {1}), {}, {}), "");
}

}  // namespace
}  // namespace assay::limit

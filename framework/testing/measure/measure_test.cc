// SPDX-License-Identifier: Apache-2.0
//
// Each row is there to kill a mutant of the comparator, named in its first
// field: a plausible defect under which this row would get another outcome.

#include "framework/testing/measure/measure.h"

#include "framework/testing/measure/measure_rows.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

TEST(MeasureTest, FloatsAreJudgedByTheToleranceOfTheCase) {
  ExpectOutcomes({
      {"everything passes", F32({1}), F32({2}), "fail value"},
      {"nothing passes", F32({2}), F32({2}), "pass"},
      {"tolerance ignored", F32({1.0005F}), F32({1}), "pass"},
      {"atol ignored", F32({1e-8F}), F32({0}), "pass"},
      {"rtol ignored", F32({1001}), F32({1000}), "pass", Within(1e-2, 0)},
      {"tolerance of the type, not of the case", F32({1.0005F}), F32({1}),
       "fail value", Within(1e-5, 0)},
      {"tolerance used although exact is asked for",
       F32({1.0005F}),
       F32({1}),
       "fail value",
       {.comparator = record::Comparator::kExact, .rtol = 1, .atol = 1}},
      {"rtol applied to got", F32({2}), F32({1}), "fail value",
       Within(0.75, 0)},
      {"rtol applied to the smaller of the two", F32({1}), F32({2}), "pass",
       Within(0.5, 0)},
      {"rtol applied to want with its sign", F32({-1.5F}), F32({-1}), "pass",
       Within(0.5, 0)},
      {"< instead of <= at the limit", F32({1.5F}), F32({1}), "pass",
       Within(0.5, 0)},
      {"difference not made absolute", F32({-9}), F32({1}), "fail value"},
      {"mean error instead of every element", F32({1, 1, 1, 1, 1, 2}),
       F32({1, 1, 1, 1, 1, 1}), "fail value", Within(0.5, 0)},
      {"first element only", F32({1, 1, 2}), F32({1, 1, 1}), "fail value"},
      {"sign of zero counted as wrong", F32({-0.0F, 1}), F32({0, 1}), "pass",
       kExactly},
  });
}

TEST(MeasureTest, NanAndInfinityAgreeBeforeAnyTolerance) {
  const cases::Limit wide = Within(1e30, 1e30);
  ExpectOutcomes({
      {"NaN equals everything, got", F32({kNan}), F32({1}), "fail nan", wide},
      {"NaN equals everything, want", F32({1}), F32({kNan}), "fail nan", wide},
      {"expected NaN tested twice (as in a well-known checker)", F32({kInf}),
       F32({kNan}), "fail nan", wide},
      {"NaN never equal", F32({kNan, 1}), F32({-kNan, 1}), "pass"},
      {"infinity's sign ignored", F32({-kInf}), F32({kInf}), "fail value",
       wide},
      {"infinity within an infinite bound", F32({1}), F32({kInf}), "fail value",
       wide},
      {"got infinity within a bound of infinity", F32({kInf}), F32({1}),
       "fail value", Within(kInf, 0)},
      {"equal infinities subtracted", F32({-kInf, 2}), F32({-kInf, 2.001F}),
       "pass"},
  });
}

TEST(MeasureTest, IntegersBooleansAndStringsAreExact) {
  const cases::Limit wide = Within(10, 10);
  ExpectOutcomes({
      {"integers under tolerance", Of<int64_t>({100}), Of<int64_t>({101}),
       "fail value", wide},
      {"integers compared as doubles", Of<int64_t>({(1LL << 60) + 1}),
       Of<int64_t>({1LL << 60}), "fail value", kExactly},
      {"unsigned under tolerance", Of<uint8_t>({0}), Of<uint8_t>({1}),
       "fail value", wide},
      {"booleans under tolerance", Shaped<uint8_t>(DType::kBool, {2}, {1, 1}),
       Shaped<uint8_t>(DType::kBool, {2}, {1, 0}), "fail value", wide},
      {"packed integers compared by bytes of which some are unused",
       Shaped<uint8_t>(DType::kInt4, {3}, {0x21, 0xF3}),
       Shaped<uint8_t>(DType::kInt4, {3}, {0x21, 0x03}), "pass", kExactly},
      {"integers never equal", Of<int32_t>({7}), Of<int32_t>({7}), "pass",
       kExactly},
      {"strings by prefix of want", Text({"abc"}), Text({"ab"}), "fail value",
       wide},
      {"strings by prefix of got", Text({"ab"}), Text({"abc"}), "fail value",
       wide},
      {"strings without case", Text({"a"}), Text({"A"}), "fail value", wide},
      {"first string only", Text({"a", "b"}), Text({"a", "c"}), "fail value",
       kExactly},
      {"strings never equal", Text({"a", ""}), Text({"a", ""}), "pass",
       kExactly},
  });
}

TEST(MeasureTest, TypesShapesAndCountsComeFirst) {
  const Tensor wide = Shaped<float>(DType::kFloat32, {1, 2}, {0, 0});
  const Tensor tall = Shaped<float>(DType::kFloat32, {2, 1}, {0, 0});
  float memory = 0;
  const Tensor elsewhere =
      *Tensor::Borrow(DType::kFloat32, {1}, &memory, {Device::Kind::kCuda, 0});
  const Tensor nowhere = *Tensor::Borrow(DType::kFloat32, {1}, nullptr);
  ExpectOutcomes({
      {"shape unchecked", wide, tall, "fail shape"},
      {"rank unchecked, scalar for vector",
       Shaped<float>(DType::kFloat32, {}, {1}), F32({1}), "fail shape"},
      {"fewer elements compared", F32({1}), F32({1, 1}), "fail shape"},
      {"empty against something", F32({}), F32({1}), "fail shape"},
      {"dtype unchecked, equal bytes", Of<int32_t>({7}), Of<uint32_t>({7}),
       "fail dtype"},
      {"dtype unchecked, equal values", Of<double>({7}), F32({7}),
       "fail dtype"},
      {"dtype unchecked, no elements", Of<double>({}), F32({}), "fail dtype"},
      {"device unchecked", elsewhere, F32({0}), "fail device"},
      {"memory unchecked", nowhere, F32({0}), "fail device"},
      {"absent counts as equal", Value(), F32({1}), "fail value_kind"},
      {"nothing expected counts as met", Value(), Value(), "fail value_kind"},
      {"an empty tensor cannot pass", F32({}), F32({}), "pass"},
  });
  ExpectOutcomesOfSeveral({
      {"first output only",
       {F32({1}), F32({1})},
       {F32({1}), F32({2})},
       "fail value"},
      {"last output only",
       {F32({2}), F32({1})},
       {F32({1}), F32({1})},
       "fail value"},
      {"count unchecked, one missing",
       {F32({1})},
       {F32({1}), F32({1})},
       "fail value_kind"},
      {"count unchecked, one too many",
       {F32({1}), F32({1})},
       {F32({1})},
       "fail value_kind"},
      {"no outputs at all counts as pass", {}, {}, "error value"},
  });
}

// Kills: a count, a place, a limit or a distance that is left out or wrong.
TEST(MeasureTest, AMessageSaysHowFarOff) {
  const cases::Limit limit = {record::Comparator::kTolerance, 0.25, 0.5,
                              "mine"};
  const auto complex = Shaped<float>(DType::kComplex64, {1}, {3, 4});
  const struct {
    std::vector<Value> got, want;
    cases::Limit limit;
    const char* message;
  } rows[] = {
      {{F32({1, 4, 2})},
       {F32({1, 1, 9})},
       limit,
       "output 0: 2 of 3 elements of float32[3] out of limit, at 1 got 4, "
       "wanted 1 within 0.5 + 0.25 * |want| (mine), up to 1.78258e+07 ulp "
       "apart"},
      {{F32({1, kNan, kInf, -kInf})},
       {F32({1, 1, 1, 1})},
       limit,
       "output 0: 3 of 4 elements of float32[4] out of limit (1 by NaN, 2 by "
       "infinity), at 1 got nan, wanted 1 within 0.5 + 0.25 * |want| (mine), "
       "up to 0 ulp apart"},
      {{F32({kInf})},
       {F32({1})},
       kExactly,
       "output 0: 1 of 1 elements of float32[1] out of limit (0 by NaN, 1 by "
       "infinity), at 0 got inf, wanted 1"},
      {{Of<int64_t>({3})},
       {Of<int64_t>({4})},
       limit,
       "output 0: 1 of 1 elements of int64[1] out of limit, at 0 got 3, wanted "
       "4"},
      {{complex},
       {Shaped<float>(DType::kComplex64, {1}, {0, 0})},
       limit,
       "output 0: 1 of 1 elements of complex64[1] out of limit, at 0 got 3+4j, "
       "wanted 0+0j within 0.5 + 0.25 * |want| (mine)"},
      {{F32({1}), Text({"a"}), Text({"b"})},
       {F32({1}), Text({"c"}), Text({"d"})},
       limit,
       "output 1: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 1 more of 3"},
      {{Text({"a"})},
       {Text({"c"}), Text({"d"})},
       limit,
       "output 0: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 2 more of 3"},
      {{Text({"c"}), Text({"d"})},
       {Text({"c"})},
       limit,
       "output : found 2 outputs, wanted 1"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Judge({}, Measure(row.got, row.want, {}, row.limit)).message,
              row.message);
  }
}

}  // namespace
}  // namespace assay::measure

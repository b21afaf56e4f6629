// SPDX-License-Identifier: Apache-2.0
//
// Each row is there to kill a mutant of the comparator, named in its first
// field: a plausible defect under which this row would get another outcome.

#include "framework/testing/measure/measure.h"

#include "framework/testing/measure/measure_rows_fixture.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

TEST(MeasureTest, FloatsAreJudgedByTheToleranceOfTheCase) {
  ExpectOutcomes({
      {"everything passes", Floats({1}), Floats({2}), "fail value"},
      {"nothing passes", Floats({2}), Floats({2}), "pass"},
      {"tolerance ignored", Floats({1.0005F}), Floats({1}), "pass"},
      {"atol ignored", Floats({1e-8F}), Floats({0}), "pass"},
      {"rtol ignored", Floats({1001}), Floats({1000}), "pass", Within(1e-2, 0)},
      {"tolerance of the type, not of the case", Floats({1.0005F}), Floats({1}),
       "fail value", Within(1e-5, 0)},
      {"tolerance used although exact is asked for",
       Floats({1.0005F}),
       Floats({1}),
       "fail value",
       {.comparator = record::Comparator::kExact, .rtol = 1, .atol = 1}},
      {"rtol applied to got", Floats({2}), Floats({1}), "fail value",
       Within(0.75, 0)},
      {"rtol applied to the smaller of the two", Floats({1}), Floats({2}),
       "pass", Within(0.5, 0)},
      {"rtol applied to want with its sign", Floats({-1.5F}), Floats({-1}),
       "pass", Within(0.5, 0)},
      {"< instead of <= at the limit", Floats({1.5F}), Floats({1}), "pass",
       Within(0.5, 0)},
      {"difference not made absolute", Floats({-9}), Floats({1}), "fail value"},
      {"mean error instead of every element", Floats({1, 1, 1, 1, 1, 2}),
       Floats({1, 1, 1, 1, 1, 1}), "fail value", Within(0.5, 0)},
      {"first element only", Floats({1, 1, 2}), Floats({1, 1, 1}),
       "fail value"},
      {"sign of zero counted as wrong", Floats({-0.0F, 1}), Floats({0, 1}),
       "pass", kExactly},
  });
}

TEST(MeasureTest, NanAndInfinityAgreeBeforeAnyTolerance) {
  const cases::Limit wide = Within(1e30, 1e30);
  ExpectOutcomes({
      {"NaN equals everything, got", Floats({kNan}), Floats({1}), "fail nan",
       wide},
      {"NaN equals everything, want", Floats({1}), Floats({kNan}), "fail nan",
       wide},
      {"expected NaN tested twice (as in a well-known checker)", Floats({kInf}),
       Floats({kNan}), "fail nan", wide},
      {"NaN never equal", Floats({kNan, 1}), Floats({-kNan, 1}), "pass"},
      {"infinity's sign ignored", Floats({-kInf}), Floats({kInf}), "fail value",
       wide},
      {"infinity within an infinite bound", Floats({1}), Floats({kInf}),
       "fail value", wide},
      {"got infinity within a bound of infinity", Floats({kInf}), Floats({1}),
       "fail value", Within(kInf, 0)},
      {"equal infinities subtracted", Floats({-kInf, 2}),
       Floats({-kInf, 2.001F}), "pass"},
  });
}

TEST(MeasureTest, IntegersBooleansAndStringsAreExact) {
  const cases::Limit wide = Within(10, 10);
  ExpectOutcomes({
      {"integers under tolerance", Int64s({100}), Int64s({101}), "fail value",
       wide},
      {"integers compared as doubles", Int64s({(1LL << 60) + 1}),
       Int64s({1LL << 60}), "fail value", kExactly},
      {"unsigned under tolerance", Elements<uint8_t>({0}),
       Elements<uint8_t>({1}), "fail value", wide},
      {"booleans under tolerance", Raw<uint8_t>(DType::kBool, {2}, {1, 1}),
       Raw<uint8_t>(DType::kBool, {2}, {1, 0}), "fail value", wide},
      {"packed integers compared by bytes of which some are unused",
       Raw<uint8_t>(DType::kInt4, {3}, {0x21, 0xF3}),
       Raw<uint8_t>(DType::kInt4, {3}, {0x21, 0x03}), "pass", kExactly},
      {"integers never equal", Elements<int32_t>({7}), Elements<int32_t>({7}),
       "pass", kExactly},
      {"strings by prefix of want", Strings({"abc"}), Strings({"ab"}),
       "fail value", wide},
      {"strings by prefix of got", Strings({"ab"}), Strings({"abc"}),
       "fail value", wide},
      {"strings without case", Strings({"a"}), Strings({"A"}), "fail value",
       wide},
      {"first string only", Strings({"a", "b"}), Strings({"a", "c"}),
       "fail value", kExactly},
      {"strings never equal", Strings({"a", ""}), Strings({"a", ""}), "pass",
       kExactly},
  });
}

TEST(MeasureTest, TypesShapesAndCountsComeFirst) {
  const Tensor wide = Raw<float>(DType::kFloat32, {1, 2}, {0, 0});
  const Tensor tall = Raw<float>(DType::kFloat32, {2, 1}, {0, 0});
  float memory = 0;
  const Tensor elsewhere =
      *Tensor::Borrow(DType::kFloat32, {1}, &memory, {Device::Kind::kCuda, 0});
  const Tensor nowhere = *Tensor::Borrow(DType::kFloat32, {1}, nullptr);
  ExpectOutcomes({
      {"shape unchecked", wide, tall, "fail shape"},
      {"rank unchecked, scalar for vector",
       Raw<float>(DType::kFloat32, {}, {1}), Floats({1}), "fail shape"},
      {"fewer elements compared", Floats({1}), Floats({1, 1}), "fail shape"},
      {"empty against something", Floats({}), Floats({1}), "fail shape"},
      {"dtype unchecked, equal bytes", Elements<int32_t>({7}),
       Elements<uint32_t>({7}), "fail dtype"},
      {"dtype unchecked, equal values", Doubles({7}), Floats({7}),
       "fail dtype"},
      {"dtype unchecked, no elements", Doubles({}), Floats({}), "fail dtype"},
      {"device unchecked", elsewhere, Floats({0}), "fail device"},
      {"memory unchecked", nowhere, Floats({0}), "fail device"},
      {"absent counts as equal", Value(), Floats({1}), "fail value_kind"},
      {"nothing expected counts as met", Value(), Value(), "fail value_kind"},
      {"an empty tensor cannot pass", Floats({}), Floats({}), "pass"},
  });
  ExpectOutcomesOfSeveral({
      {"first output only",
       {Floats({1}), Floats({1})},
       {Floats({1}), Floats({2})},
       "fail value"},
      {"last output only",
       {Floats({2}), Floats({1})},
       {Floats({1}), Floats({1})},
       "fail value"},
      {"count unchecked, one missing",
       {Floats({1})},
       {Floats({1}), Floats({1})},
       "fail value_kind"},
      {"count unchecked, one too many",
       {Floats({1}), Floats({1})},
       {Floats({1})},
       "fail value_kind"},
      {"no outputs at all counts as pass", {}, {}, "error value"},
  });
}

// Kills: a count, a place, a limit or a distance that is left out or wrong.
TEST(MeasureTest, AMessageSaysHowFarOff) {
  const cases::Limit limit = {record::Comparator::kTolerance, 0.25, 0.5,
                              "mine"};
  const auto complex = Raw<float>(DType::kComplex64, {1}, {3, 4});
  const struct {
    std::vector<Value> got, want;
    cases::Limit limit;
    const char* message;
  } rows[] = {
      {{Floats({1, 4, 2})},
       {Floats({1, 1, 9})},
       limit,
       "output 0: 2 of 3 elements of float32[3] out of limit, at 1 got 4, "
       "wanted 1 within 0.5 + 0.25 * |want| (mine), up to 1.78258e+07 ulp "
       "apart"},
      {{Floats({1, kNan, kInf, -kInf})},
       {Floats({1, 1, 1, 1})},
       limit,
       "output 0: 3 of 4 elements of float32[4] out of limit (1 by NaN, 2 by "
       "infinity), at 1 got nan, wanted 1 within 0.5 + 0.25 * |want| (mine), "
       "up to 0 ulp apart"},
      {{Floats({kInf})},
       {Floats({1})},
       kExactly,
       "output 0: 1 of 1 elements of float32[1] out of limit (0 by NaN, 1 by "
       "infinity), at 0 got inf, wanted 1"},
      {{Int64s({3})},
       {Int64s({4})},
       limit,
       "output 0: 1 of 1 elements of int64[1] out of limit, at 0 got 3, wanted "
       "4"},
      {{complex},
       {Raw<float>(DType::kComplex64, {1}, {0, 0})},
       limit,
       "output 0: 1 of 1 elements of complex64[1] out of limit, at 0 got 3+4j, "
       "wanted 0+0j within 0.5 + 0.25 * |want| (mine)"},
      {{Floats({1}), Strings({"a"}), Strings({"b"})},
       {Floats({1}), Strings({"c"}), Strings({"d"})},
       limit,
       "output 1: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 1 more of 3"},
      {{Strings({"a"})},
       {Strings({"c"}), Strings({"d"})},
       limit,
       "output 0: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 2 more of 3"},
      {{Strings({"c"}), Strings({"d"})},
       {Strings({"c"})},
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

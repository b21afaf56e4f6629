// SPDX-License-Identifier: Apache-2.0
//
// Each row is there to kill a mutant of the comparator, named in its first
// field: a plausible defect under which this row would get another outcome.

#include "framework/testing/measure/measure.h"

#include <utility>

#include "framework/testing/measure/measure_rows_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

using Values = std::vector<Value>;

TEST(MeasureTest, FloatsAreJudgedByTheToleranceOfTheCase) {
  ExpectOutcomes({
      {"everything passes", Floats({1}), Floats({2}), "fail value"},
      {"nothing passes", Floats({2}), Floats({2}), "pass"},
      {"tolerance ignored", Floats({1.0005F}), Floats({1}), "pass"},
      {"atol ignored", Floats({1e-8F}), Floats({0}), "pass"},
      {"rtol ignored", Floats({1001}), Floats({1000}), "pass", Within(1e-2, 0)},
      {"tolerance of the type, not of the case", Floats({1.0005F}), Floats({1}),
       "fail value", Within(1e-5, 0)},
      {"tolerance used although exact is asked for", Floats({1.0005F}),
       Floats({1}), "fail value",
       cases::Limit{
           .comparator = record::Comparator::kExact, .rtol = 1, .atol = 1}},
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
      {"first output only", Values{Floats({1}), Floats({1})},
       Values{Floats({1}), Floats({2})}, "fail value"},
      {"last output only", Values{Floats({2}), Floats({1})},
       Values{Floats({1}), Floats({1})}, "fail value"},
      {"count unchecked, one missing", Values{Floats({1})},
       Values{Floats({1}), Floats({1})}, "fail value_kind"},
      {"count unchecked, one too many", Values{Floats({1}), Floats({1})},
       Values{Floats({1})}, "fail value_kind"},
      {"no outputs at all counts as pass", {}, {}, "error value"},
  });
}

// Kills: a count, a place, a limit or a distance that is left out or wrong.
TEST(MeasureTest, AMessageSaysHowFarOff) {
  const cases::Limit limit = {record::Comparator::kTolerance, 0.25, 0.5,
                              "mine"};
  const auto complex = Raw<float>(DType::kComplex64, {1}, {3, 4});
  const struct {
    Values got, want;
    cases::Limit limit;
    const char* message;
  } rows[] = {
      {Values{Floats({1, 4, 2})}, Values{Floats({1, 1, 9})}, limit,
       "output 0: 2 of 3 elements of float32[3] out of limit, at 1 got 4, "
       "wanted 1 within 0.5 + 0.25 * |want| (mine), up to 1.78258e+07 ulp "
       "apart"},
      {Values{Floats({1, kNan, kInf, -kInf})}, Values{Floats({1, 1, 1, 1})},
       limit,
       "output 0: 3 of 4 elements of float32[4] out of limit (1 by NaN, 2 by "
       "infinity), at 1 got nan, wanted 1 within 0.5 + 0.25 * |want| (mine)"},
      {Values{Floats({-1})}, Values{Floats({1})}, limit,
       "output 0: 1 of 1 elements of float32[1] out of limit, at 0 got -1, "
       "wanted 1 within 0.5 + 0.25 * |want| (mine)"},
      {Values{Floats({kInf})}, Values{Floats({1})}, kExactly,
       "output 0: 1 of 1 elements of float32[1] out of limit (0 by NaN, 1 by "
       "infinity), at 0 got inf, wanted 1"},
      {Values{Int64s({3})}, Values{Int64s({4})}, limit,
       "output 0: 1 of 1 elements of int64[1] out of limit, at 0 got 3, wanted "
       "4"},
      {Values{complex}, Values{Raw<float>(DType::kComplex64, {1}, {0, 0})},
       limit,
       "output 0: 1 of 1 elements of complex64[1] out of limit, at 0 got 3+4j, "
       "wanted 0+0j within 0.5 + 0.25 * |want| (mine)"},
      {Values{Floats({1}), Strings({"a"}), Strings({"b"})},
       Values{Floats({1}), Strings({"c"}), Strings({"d"})}, limit,
       "output 1: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 1 more of 3"},
      {Values{Strings({"a"})}, Values{Strings({"c"}), Strings({"d"})}, limit,
       "output 0: 1 of 1 elements of string[1] out of limit, at 0 got a, "
       "wanted c; and 2 more of 3"},
      {Values{Strings({"c"}), Strings({"d"})}, Values{Strings({"c"})}, limit,
       "output : found 2 outputs, wanted 1"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Judge({}, Measure(row.got, row.want, {}, row.limit)).message,
              row.message);
  }
}

ValueType FloatType() { return ValueType::OfTensor(DType::kFloat32, {}); }

Value Seq(std::vector<Value> items, DType type = DType::kFloat32) {
  return Sequence{ValueType::OfTensor(type, {}), std::move(items)};
}
Value Some(Value held) {
  return Optional{FloatType(), std::make_shared<const Value>(std::move(held))};
}
Value None() { return Optional{FloatType(), nullptr}; }

Value MapOf(Tensor keys, std::vector<Value> values) {
  return Map{std::move(keys), std::move(values)};
}
Value Sparse(std::vector<float> values, std::vector<int64_t> indices,
             Shape shape) {
  return SparseTensor{Floats(values), Elements(indices), std::move(shape)};
}

TEST(MeasureTest, SequencesAndOptionalsAreComparedInDepth) {
  const Value one = Floats({1});
  const Value two = Floats({2});
  ExpectOutcomes({
      {"kind unchecked", Seq({Floats({1})}), Floats({1}), "fail value_kind"},
      {"sequences never equal", Seq({one, two}), Seq({one, two}), "pass"},
      {"items unchecked", Seq({one, one}), Seq({one, two}), "fail value"},
      {"length unchecked, longer", Seq({one, two}), Seq({one}), "fail shape"},
      {"length unchecked, shorter", Seq({one}), Seq({one, two}), "fail shape"},
      {"length unchecked, empty", Seq({}), Seq({one}), "fail shape"},
      {"empty sequences count as nothing compared", Seq({}), Seq({}), "pass"},
      {"element type of empty sequences unchecked", Seq({}, DType::kInt64),
       Seq({}), "fail dtype"},
      {"optional none equals some", None(), Some(one), "fail value_kind"},
      {"optional some equals none", Some(one), None(), "fail value_kind"},
      {"optional none never equal", None(), None(), "pass"},
      {"held value unchecked", Some(one), Some(two), "fail value"},
      {"optional equals its value", one, Some(one), "fail value_kind"},
      {"nesting unchecked", Some(Seq({one, one})), Some(Seq({one, two})),
       "fail value"},
  });
}

TEST(MeasureTest, MapsAreComparedByKey) {
  const Value one = Floats({1});
  const Value two = Floats({2});
  const Tensor a_b = Strings({"a", "b"});
  const std::string long_key(50, 'x');
  ExpectOutcomes({
      {"maps by position", MapOf(a_b, {one, two}),
       MapOf(Strings({"b", "a"}), {two, one}), "pass"},
      {"keys unchecked", MapOf(Strings({"a", "c"}), {one, two}),
       MapOf(a_b, {one, two}), "fail value"},
      {"duplicate keys", MapOf(Strings({"a", "a"}), {one, two}),
       MapOf(a_b, {one, two}), "fail value"},
      {"keys cut to what is shown",
       MapOf(Strings({long_key + "b", long_key + "a"}), {one, two}),
       MapOf(Strings({long_key + "a", long_key + "b"}), {one, two}),
       "fail value"},
      {"map values unchecked", MapOf(a_b, {one, one}), MapOf(a_b, {one, two}),
       "fail value"},
      {"size unchecked", MapOf(a_b, {one, two}), MapOf(Strings({"a"}), {one}),
       "fail shape"},
      {"type of keys unchecked", MapOf(Int64s({1}), {one}),
       MapOf(Strings({"1"}), {one}), "fail shape"},
      {"more values than keys", MapOf(Strings({"a"}), {one, two}),
       MapOf(a_b, {one, two}), "fail shape"},
      {"empty maps count as nothing compared", MapOf(Strings({}), {}),
       MapOf(Strings({}), {}), "pass"},
  });
}

TEST(MeasureTest, SparseTensorsAreComparedByShapeIndicesAndValues) {
  ExpectOutcomes({
      {"sparse never equal", Sparse({1, 2}, {0, 3}, {4}),
       Sparse({1, 2}, {0, 3}, {4}), "pass"},
      {"sparse indices unchecked", Sparse({1, 2}, {0, 2}, {4}),
       Sparse({1, 2}, {0, 3}, {4}), "fail value", Within(9, 9)},
      {"sparse values unchecked", Sparse({1, 3}, {0, 3}, {4}),
       Sparse({1, 2}, {0, 3}, {4}), "fail value"},
      {"sparse shape unchecked", Sparse({1, 2}, {0, 3}, {5}),
       Sparse({1, 2}, {0, 3}, {4}), "fail shape"},
  });
}

TEST(MeasureTest, WhatIsDrawnAtRandomDoesNotPassUnjudged) {
  ExpectOutcomes({
      {"a draw counts as pass", Floats({1}), Floats({1}), "unsupported value",
       kRandom},
      {"a draw compared with another", Floats({1}), Floats({2}),
       "unsupported value", kRandom},
      {"shape of a draw unchecked", Floats({1}), Floats({1, 2}), "fail shape",
       kRandom},
      {"dtype of a draw unchecked", Doubles({1}), Floats({1}), "fail dtype",
       kRandom},
  });
}

// ONNX's runner judges the same pairs by numpy and ml_dtypes. The verdict here
// is the same, save that integers have no tolerance here.
TEST(MeasureTest, EveryElementTypeIsComparedAsOnnxDoesOrStricter) {
  using enum DType;
  const struct {
    DType type;
    std::vector<uint8_t> want, got;
    record::Outcome outcome;
    double rtol = 1e-3;
  } rows[] = {
      // Neighbours in types of few bits are farther apart than the tolerance.
      {kFloat8E4M3FN, {0x38}, {0x39}, kFail},
      {kFloat8E4M3FNUZ, {0x40}, {0x41}, kFail},
      {kFloat8E5M2, {0x3C}, {0x3D}, kFail},
      {kFloat8E5M2FNUZ, {0x40}, {0x41}, kFail},
      {kFloat8E8M0, {0x7F}, {0x80}, kFail},
      {kFloat6E2M3, {0x08}, {0x09}, kFail},
      {kFloat6E3M2, {0x0C}, {0x0D}, kFail},
      {kFloat4E2M1, {0x02}, {0x03}, kFail},
      {kInt4, {0x01}, {0x02}, kFail},
      {kUint4, {0x01}, {0x02}, kFail},
      {kInt2, {0x01}, {0x00}, kFail},
      {kUint2, {0x01}, {0x02}, kFail},
      {kBool, {0x01}, {0x00}, kFail},
      {kFloat8E4M3FN, {0x38}, {0x38}, kPass},
      {kFloat6E2M3, {0x08}, {0x08}, kPass},
      {kFloat4E2M1, {0x02}, {0x02}, kPass},
      {kInt2, {0x01}, {0x01}, kPass},
      // NaN is NaN whatever its bits; zeros are equal; what is not is not.
      {kFloat8E4M3FN, {0x7F}, {0xFF}, kPass},
      {kFloat8E4M3FN, {0x7F}, {0x7E}, kFail},
      {kFloat8E4M3FN, {0x00}, {0x80}, kPass},
      {kFloat4E2M1, {0x00}, {0x08}, kPass},
      {kFloat8E5M2, {0x7C}, {0xFC}, kFail},
      // Two units in the last place of bfloat16 are 2^-6, three are more.
      {kBFloat16, {0x80, 0x3F}, {0x82, 0x3F}, kPass, 0x1p-6},
      {kBFloat16, {0x80, 0x3F}, {0x83, 0x3F}, kFail, 0x1p-6},
      {kFloat16, {0x00, 0x3C}, {0x01, 0x3C}, kPass},
      {kFloat16, {0x00, 0x3C}, {0x02, 0x3C}, kFail},
      // ONNX's runner lets 100000 and 100050 pass.
      {kUint32, {0xA0, 0x86, 1, 0}, {0xD2, 0x86, 1, 0}, kFail},
  };
  for (const auto& row : rows) {
    const std::vector<Value> got = {Raw(row.type, {1}, row.got)};
    const std::vector<Value> want = {Raw(row.type, {1}, row.want)};
    const auto metrics = Measure(got, want, {}, Within(row.rtol, 1e-7));
    EXPECT_EQ(ToString(Judge({}, metrics).outcome), ToString(row.outcome))
        << row.type << Judge({}, metrics).message;
  }
}

TEST(MeasureTest, ComplexNumbersAreComparedByTheirDistance) {
  const auto complex = [](float re, float im) {
    return Value(Raw<float>(DType::kComplex64, {1}, {re, im}));
  };
  ExpectOutcomes({
      {"complex never equal", complex(1, 2), complex(1, 2), "pass"},
      // Far in one part, near as a number.
      {"parts compared apart", complex(1000, 0.5F), complex(1000, 0), "pass"},
      {"imaginary part unchecked", complex(1, 2), complex(1, 2.1F),
       "fail value"},
      {"real part unchecked", complex(1, 2), complex(1.1F, 2), "fail value"},
      {"only the modulus compared", complex(0, 1), complex(1, 0), "fail value"},
      {"complex NaN equals everything", complex(kNan, 0), complex(1, 0),
       "fail nan"},
  });
}

TEST(JudgeTest, MessagesNameTheItemAndWhatWasThere) {
  const Value one = Floats({1});
  const Value two = Floats({2});
  const std::vector<std::string> names = {"y"};
  const struct {
    Value got, want;
    const char* message;
  } rows[] = {
      {Seq({one, one}), Seq({one, two}), "output y[1]: 1 of 1 elements of"},
      {Seq({one, one}), Seq({one, two}), "at 0 got 1, wanted 2 within"},
      {Seq({Seq({one}), Seq({two, one})}), Seq({Seq({one}), Seq({two, two})}),
       "output y[1][1]: "},
      {Seq({one}), Seq({one, two}), "found a sequence of 1, wanted 2"},
      {Seq({one, Strings({"a"})}), Seq({one, two}),
       "output y[1]: found string[1], wanted float32[1]"},
      {Some(Seq({two})), Some(Seq({one})), "output y[0]: "},
      {None(), Some(one),
       "output y: found none of optional(float32[]), wanted a value"},
      {MapOf(Strings({"a", "b"}), {one, one}),
       MapOf(Strings({"a", "b"}), {one, two}), "output y{b}: 1 of 1"},
      {MapOf(Int64s({7}), {one}), MapOf(Int64s({8}), {one}),
       "output y{8}: found no key 8"},
      {Strings({"same", "this"}), Strings({"same", "that"}),
       "at 1 got this, wanted that"},
      {Sparse({1, 2}, {0, 2}, {4}), Sparse({1, 2}, {0, 3}, {4}),
       "output y.indices: 1 of 2"},
  };
  for (const auto& row : rows) {
    const std::vector<Value> got = {row.got};
    const std::vector<Value> want = {row.want};
    const auto metrics = Measure(got, want, names, kOnnx);
    EXPECT_THAT(Judge({}, metrics).message, testing::HasSubstr(row.message));
  }
}

TEST(JudgeTest, OnlyLoadAndBindMayDecline) {
  const Status declined = Unsupported(Reason::kOperator, "no kernel");
  const Status missing = Unavailable("no device");
  using enum Stage;
  const struct {
    Stage stage;
    Status status;
    record::Outcome outcome;
    Reason reason;
  } rows[] = {
      {kLoad, declined, record::Outcome::kUnsupported, Reason::kOperator},
      {kBind, declined, record::Outcome::kUnsupported, Reason::kOperator},
      {kForward, declined, record::Outcome::kError, Reason::kOperator},
      {kFetch, declined, record::Outcome::kError, Reason::kOperator},
      {kLoad, missing, record::Outcome::kUnavailable, Reason::kDevice},
      {kForward, missing, record::Outcome::kError, Reason::kDevice},
      {kLoad, InvalidArgument("x"), record::Outcome::kError, Reason::kNone},
      {kBind, Internal("x"), record::Outcome::kError, Reason::kNone},
      {kLoad, DataLoss("x"), record::Outcome::kError, Reason::kReader},
  };
  // Metrics that would pass must not hide a failed status.
  const std::vector<Value> same = {Floats({1})};
  const auto passing = Measure(same, same, {}, kOnnx);
  for (const auto& row : rows) {
    Observation seen;
    seen.stage = row.stage;
    seen.status = row.status;
    const Judgement judgement = Judge(seen, passing);
    const int stage = static_cast<int>(row.stage);
    EXPECT_EQ(ToString(judgement.outcome), ToString(row.outcome)) << stage;
    EXPECT_EQ(judgement.reason, row.reason) << stage;
    EXPECT_THAT(judgement.message, testing::HasSubstr(row.status.message()));
  }
}

}  // namespace
}  // namespace assay::measure

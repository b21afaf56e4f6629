// SPDX-License-Identifier: Apache-2.0
//
// Each row is there to kill a mutant of the comparator, named in its first
// field: a plausible defect under which this row would get another outcome.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/measure_rows_fixture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

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
  struct Row {
    DType type;
    std::vector<uint8_t> want, got;
    record::Outcome outcome;
    double rtol = 1e-3;
  };
  using enum DType;
  const std::vector<Row> rows = {
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
  for (const Row& row : rows) {
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
  struct StatusRow {
    Stage stage;
    Status status;
    record::Outcome outcome;
    Reason reason;
  };
  const Status declined = Unsupported(Reason::kOperator, "no kernel");
  const Status missing = Unavailable("no device");
  using enum Stage;
  const std::vector<StatusRow> rows = {
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
  for (const StatusRow& row : rows) {
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

// SPDX-License-Identifier: Apache-2.0
//
// Each row is there to kill a mutant of the comparator, named in its first
// field: a plausible defect under which this row would get another outcome.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/measure.h"
#include "framework/testing/measure_rows.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace assay {
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
  return SparseTensor{F32(values), Of(indices), std::move(shape)};
}

TEST(MeasureTest, SequencesAndOptionalsAreComparedInDepth) {
  const Value one = F32({1});
  const Value two = F32({2});
  ExpectOutcomes({
      {"kind unchecked",
       {Seq({F32({1})})},
       {F32({1})},
       kOnnx,
       kFail,
       Reason::kValueKind},
      {"sequences never equal",
       {Seq({one, two})},
       {Seq({one, two})},
       kOnnx,
       kPass},
      {"items unchecked",
       {Seq({one, one})},
       {Seq({one, two})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"length unchecked, longer",
       {Seq({one, two})},
       {Seq({one})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"length unchecked, shorter",
       {Seq({one})},
       {Seq({one, two})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"length unchecked, empty",
       {Seq({})},
       {Seq({one})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"empty sequences count as nothing compared",
       {Seq({})},
       {Seq({})},
       kOnnx,
       kPass},
      {"element type of empty sequences unchecked",
       {Seq({}, DType::kInt64)},
       {Seq({})},
       kOnnx,
       kFail,
       Reason::kDType},
      {"optional none equals some",
       {None()},
       {Some(one)},
       kOnnx,
       kFail,
       Reason::kValueKind},
      {"optional some equals none",
       {Some(one)},
       {None()},
       kOnnx,
       kFail,
       Reason::kValueKind},
      {"optional none never equal", {None()}, {None()}, kOnnx, kPass},
      {"held value unchecked",
       {Some(one)},
       {Some(two)},
       kOnnx,
       kFail,
       Reason::kValue},
      {"optional equals its value",
       {one},
       {Some(one)},
       kOnnx,
       kFail,
       Reason::kValueKind},
      {"nesting unchecked",
       {Some(Seq({one, one}))},
       {Some(Seq({one, two}))},
       kOnnx,
       kFail,
       Reason::kValue},
  });
}

TEST(MeasureTest, MapsAreComparedByKey) {
  const Value one = F32({1});
  const Value two = F32({2});
  const Tensor a_b = Text({"a", "b"});
  const std::string long_key(50, 'x');
  ExpectOutcomes({
      {"maps by position",
       {MapOf(a_b, {one, two})},
       {MapOf(Text({"b", "a"}), {two, one})},
       kOnnx,
       kPass},
      {"keys unchecked",
       {MapOf(Text({"a", "c"}), {one, two})},
       {MapOf(a_b, {one, two})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"duplicate keys",
       {MapOf(Text({"a", "a"}), {one, two})},
       {MapOf(a_b, {one, two})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"keys cut to what is shown",
       {MapOf(Text({long_key + "b", long_key + "a"}), {one, two})},
       {MapOf(Text({long_key + "a", long_key + "b"}), {one, two})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"map values unchecked",
       {MapOf(a_b, {one, one})},
       {MapOf(a_b, {one, two})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"size unchecked",
       {MapOf(a_b, {one, two})},
       {MapOf(Text({"a"}), {one})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"type of keys unchecked",
       {MapOf(Of<int64_t>({1}), {one})},
       {MapOf(Text({"1"}), {one})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"more values than keys",
       {MapOf(Text({"a"}), {one, two})},
       {MapOf(a_b, {one, two})},
       kOnnx,
       kFail,
       Reason::kShape},
      {"empty maps count as nothing compared",
       {MapOf(Text({}), {})},
       {MapOf(Text({}), {})},
       kOnnx,
       kPass},
  });
}

TEST(MeasureTest, SparseTensorsAreComparedByShapeIndicesAndValues) {
  ExpectOutcomes({
      {"sparse never equal",
       {Sparse({1, 2}, {0, 3}, {4})},
       {Sparse({1, 2}, {0, 3}, {4})},
       kOnnx,
       kPass},
      {"sparse indices unchecked",
       {Sparse({1, 2}, {0, 2}, {4})},
       {Sparse({1, 2}, {0, 3}, {4})},
       Within(9, 9),
       kFail,
       Reason::kValue},
      {"sparse values unchecked",
       {Sparse({1, 3}, {0, 3}, {4})},
       {Sparse({1, 2}, {0, 3}, {4})},
       kOnnx,
       kFail,
       Reason::kValue},
      {"sparse shape unchecked",
       {Sparse({1, 2}, {0, 3}, {5})},
       {Sparse({1, 2}, {0, 3}, {4})},
       kOnnx,
       kFail,
       Reason::kShape},
  });
}

TEST(MeasureTest, WhatIsDrawnAtRandomDoesNotPassUnjudged) {
  ExpectOutcomes({
      {"a draw counts as pass",
       {F32({1})},
       {F32({1})},
       kRandom,
       Outcome::kUnsupported,
       Reason::kValue},
      {"a draw compared with another",
       {F32({1})},
       {F32({2})},
       kRandom,
       Outcome::kUnsupported,
       Reason::kValue},
      {"shape of a draw unchecked",
       {F32({1})},
       {F32({1, 2})},
       kRandom,
       kFail,
       Reason::kShape},
      {"dtype of a draw unchecked",
       {Of<double>({1})},
       {F32({1})},
       kRandom,
       kFail,
       Reason::kDType},
  });
}

TEST(JudgeTest, OnlyLoadAndBindMayDecline) {
  struct StatusRow {
    Stage stage;
    Status status;
    Outcome outcome;
    Reason reason;
  };
  const Status declined = Unsupported(Reason::kOperator, "no kernel");
  const Status missing = Unavailable("no device");
  using enum Stage;
  const std::vector<StatusRow> rows = {
      {kLoad, declined, Outcome::kUnsupported, Reason::kOperator},
      {kBind, declined, Outcome::kUnsupported, Reason::kOperator},
      {kForward, declined, Outcome::kError, Reason::kOperator},
      {kFetch, declined, Outcome::kError, Reason::kOperator},
      {kLoad, missing, Outcome::kUnavailable, Reason::kDevice},
      {kForward, missing, Outcome::kError, Reason::kDevice},
      {kLoad, InvalidArgument("x"), Outcome::kError, Reason::kNone},
      {kBind, Internal("x"), Outcome::kError, Reason::kNone},
      {kLoad, DataLoss("x"), Outcome::kError, Reason::kReader},
  };
  // Metrics that would pass must not hide a failed status.
  const std::vector<Value> same = {F32({1})};
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
}  // namespace assay

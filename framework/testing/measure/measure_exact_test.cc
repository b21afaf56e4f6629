// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/measure_exact.h"

#include "framework/testing/measure/measure_rows_fixture.h"
#include "gtest/gtest.h"

namespace assay::measure {
namespace {

ExactAnswer Answer(const std::vector<double>& value,
                   const std::vector<double>& tail = {},
                   const std::vector<double>& bound = {}) {
  const std::vector<double> zeros(value.size(), 0);
  return {{Elements(value), Elements(tail.empty() ? zeros : tail),
           Elements(bound.empty() ? zeros : bound)},
          {}};
}

// The first field names the defect under which the row would be another.
TEST(MeasureExactTest, TakesTheDistanceFromTheUnroundedNumbers) {
  const double ulp = 0x1p-23;
  const struct {
    const char* mutant;
    Value got;
    ExactAnswer answer;
    double max_ulp, share, bound;
    int64_t worst;
    const char *want_text, *got_text;
  } rows[] = {
      {"the answer is rounded first", Floats({1, 1}), Answer({1, 1 + ulp / 4}),
       0.25, 1, 0, 1, "1.0000000298023224", "1"},
      {"the tail is left out", Floats({1}), Answer({1}, {ulp / 8}), 0.125, 1, 0,
       0, "1", "1"},
      {"the tail counts twice", Floats({1}), Answer({1 + ulp}, {-ulp}), 0, 1, 0,
       -1, "", ""},
      {"the bound is left out", Floats({1}), Answer({1}, {}, {ulp / 16}), 0, 1,
       1.0 / 16, -1, "", ""},
      {"a bound that proves nothing proves a share", Floats({1}),
       Answer({1 + 8 * ulp}, {}, {100 * ulp}), 8, -1, 100, 0,
       "1.0000009536743164", "1"},
      {"half a unit leaves two neighbours", Floats({1}),
       Answer({1}, {}, {ulp / 2}), 0, -1, 0.5, -1, "", ""},
      {"an answer that is as it is has a bound",
       Floats({2}),
       {{Floats({2}), {}, {}}, {}},
       0,
       1,
       -1,
       -1,
       "",
       ""},
  };
  for (const auto& row : rows) {
    const auto metrics = MeasureExact({{row.got}}, {{row.answer}},
                                      {{std::string("y")}}, kOnnx, "oracle");
    ASSERT_EQ(metrics.size(), 1U) << row.mutant;
    EXPECT_EQ(metrics[0].reference, "oracle");
    EXPECT_EQ(metrics[0].output_name, "y");
    EXPECT_EQ(metrics[0].max_ulp, row.max_ulp) << row.mutant;
    EXPECT_EQ(metrics[0].share_correctly_rounded.value_or(-1), row.share)
        << row.mutant;
    EXPECT_EQ(metrics[0].oracle_bound.value_or(-1), row.bound) << row.mutant;
    EXPECT_EQ(metrics[0].worst_index, row.worst) << row.mutant;
    EXPECT_EQ(metrics[0].worst_want, row.want_text) << row.mutant;
    EXPECT_EQ(metrics[0].worst_got, row.got_text) << row.mutant;
  }
}

TEST(MeasureExactTest, SaysWhatDoesNotFitAndLeavesOutWhatIsNotThere) {
  const std::vector<Value> got = {Floats({1, 2}), Int64s({3}), Floats({1})};
  std::vector<ExactAnswer> answers = {Answer({1, 2, 3}),
                                      {{Int64s({4}), {}, {}}, {}}};
  const auto metrics = MeasureExact(got, answers, {}, kOnnx, "oracle");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].mismatch, "found float32[2], the oracle has [3]");
  EXPECT_FALSE(metrics[0].max_ulp.has_value());
  EXPECT_EQ(metrics[1].out_of_limit, 1);
  // Parts of another size are not read.
  answers[0] = {{Doubles({1, 2}), Doubles({0}), Doubles({0, 0})}, {}};
  EXPECT_NE(MeasureExact(got, answers, {}, kOnnx, "oracle")[0].mismatch, "");
  answers[1].value = Value();  // the oracle does not know
  EXPECT_EQ(MeasureExact(got, answers, {}, kOnnx, "oracle").size(), 1U);
}

TEST(MeasureExactTest, SequencesAndOptionalsAreMeasuredPartByPart) {
  const ValueType type = ValueType::OfTensor(DType::kFloat32, {});
  const Value one = Floats({1});
  const Value held = Optional{
      type, std::make_shared<const Value>(Sequence{type, {one, Floats({2})}})};
  const ValueType wide = ValueType::OfTensor(DType::kFloat64, {});
  ExactAnswer answer;
  answer.value =
      Optional{wide, std::make_shared<const Value>(Sequence{
                         wide, {Doubles({1}), Doubles({2 + 0x1p-23})}})};
  const auto metrics =
      MeasureExact({{held}}, {{answer}}, {{std::string("y")}}, kOnnx, "oracle");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].output_name, "y[0]");
  EXPECT_EQ(metrics[0].max_ulp, 0);
  EXPECT_EQ(metrics[1].output_name, "y[1]");
  EXPECT_EQ(metrics[1].max_ulp, 0.5);
}

// Kills: items of a sequence that is none, or of one of another length.
TEST(MeasureExactTest, SequencesThatDoNotMatchAreSaidFirst) {
  const ValueType narrow = ValueType::OfTensor(DType::kFloat32, {});
  const ValueType wide = ValueType::OfTensor(DType::kFloat64, {});
  const Value one = Floats({1});
  const Value wanted = Doubles({1});
  const struct {
    Value got, want;
    bool matches = false;
  } rows[] = {
      {one, Sequence{wide, {wanted}}},
      {Sequence{narrow, {one}}, wanted},
      {Sequence{narrow, {one}}, Sequence{wide, {wanted, wanted}}},
      {Sequence{narrow, {one, one}}, Sequence{wide, {wanted}}},
      {Sequence{narrow, {}}, Sequence{wide, {wanted}}},
      {Sequence{narrow, {one}}, Sequence{wide, {}}},
      {Sequence{narrow, {}}, Sequence{narrow, {}}, true},
  };
  for (const auto& row : rows) {
    ExactAnswer answer;
    answer.value = row.want;
    const auto metrics =
        MeasureExact({{row.got}}, {{answer}}, {}, kOnnx, "oracle");
    ASSERT_FALSE(metrics.empty());
    EXPECT_EQ(metrics[0].output_name, "0");
    EXPECT_EQ(metrics[0].mismatch.empty(), row.matches) << metrics[0].mismatch;
  }
}

// Kills: an output without a place or a type; a limit of an exact case, or one
// that is not held.
TEST(MeasureExactTest, SaysWhichOutputAndHoldsItsLimit) {
  const std::vector<Value> got = {Floats({1}), Floats({1, 3})};
  const std::vector<ExactAnswer> answers = {Answer({1}), Answer({1, 2})};
  const std::vector<std::string> names = {"y"};
  for (const auto& [limit, out] :
       {std::pair(Within(0.5, 0), 0), std::pair(Within(0.25, 0.5), 0),
        std::pair(Within(0.25, 0.25), 1), std::pair(kExactly, 1)}) {
    const auto metrics = MeasureExact(got, answers, names, limit, "oracle");
    ASSERT_EQ(metrics.size(), 2U);
    EXPECT_EQ(metrics[0].output_index, 0);
    EXPECT_EQ(metrics[0].output_name, "y");
    EXPECT_EQ(metrics[1].output_index, 1);
    EXPECT_EQ(metrics[1].output_name, "1");
    EXPECT_EQ(metrics[1].dtype, "float32");
    EXPECT_EQ(metrics[1].shape, "[2]");
    EXPECT_EQ(metrics[1].n_elem, 2);
    EXPECT_EQ(metrics[1].out_of_limit, out);
  }
}

TEST(MeasureExactTest, UnitsAreThoseOfTheType) {
  ExactAnswer answer = Answer({1});
  answer.units = Doubles({8});
  const auto metrics =
      MeasureExact({{Floats({1 + 0x1p-21F})}}, {{answer}}, {}, kOnnx, "oracle");
  EXPECT_EQ(metrics[0].max_unit_err, 1);  // 4 ULP, 8 roundoffs of 8
}

// Kills: the exact numbers of other elements than those that a person looks at,
// or of another output.
TEST(MeasureExactTest, WorstElementsAreThoseThatWereJudged) {
  OutputMetrics other;
  other.output_name = "x";
  other.worst = {{0, "7", "7"}};
  OutputMetrics judged;
  judged.output_name = "y";
  judged.worst = {{2, "9", "3"}, {0, "2", "1"}};
  const std::vector<OutputMetrics> both = {other, judged};
  const auto metrics =
      MeasureExact({{Floats({1, 2, 3})}}, {{Answer({1.5, 2, 3.25})}},
                   {{std::string("y")}}, kOnnx, "oracle", both);
  ASSERT_EQ(metrics.at(0).worst.size(), 2U);
  EXPECT_EQ(metrics[0].worst[0].index, 2);
  EXPECT_EQ(metrics[0].worst[0].want, "3.25");
  EXPECT_EQ(metrics[0].worst[0].got, "3");
  EXPECT_EQ(metrics[0].worst[1].want, "1.5");
}

}  // namespace
}  // namespace assay::measure

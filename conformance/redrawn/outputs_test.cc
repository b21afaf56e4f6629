// SPDX-License-Identifier: Apache-2.0

#include "conformance/redrawn/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "framework/graph/model_text.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::redrawn {
namespace {

using testing::HasSubstr;

constexpr const char* kExp = "g (float[2] x) => (float[2] y) { y = Exp(x) }";
constexpr const char* kTwice =
    "g (float[2] x) => (float[4] y) { y = Concat<axis = 0>(x, x) }";

/// An answer that is off by nothing, with units of the size of its numbers.
measure::ExactAnswer AnswerOf(const std::vector<double>& numbers,
                              double bound = 0) {
  measure::ExactAnswer answer;
  answer.value = Doubles(numbers);
  answer.bound = Doubles(std::vector<double>(numbers.size(), bound));
  answer.units = answer.hard_units = Doubles(numbers);
  return answer;
}

struct Held {
  std::string fault;
  int64_t known = 0;
};

Held Hold(const char* model, const Value& got,
          const measure::ExactAnswer& answer, const cases::Limit& limit = {}) {
  const auto read = graph::ModelOfText(model);
  OutputJudge judge(read->graph(), limit);
  std::string fault = judge.FaultOf(0, got, answer);
  return {fault, judge.known()};
}

// Kills: a number beyond its units that passes, one within that does not, and
// the case's tolerance where it is wider.
TEST(OutputJudge, HoldsNumbersWithinUnitsOrTheTolerance) {
  EXPECT_EQ(Hold(kExp, Floats({1, 2}), AnswerOf({1, 2})).fault, "");
  EXPECT_EQ(Hold(kExp, Floats({1 + 0x2p-23F, 2}), AnswerOf({1, 2})).fault, "");
  EXPECT_THAT(Hold(kExp, Floats({1 + 0x8p-23F, 2}), AnswerOf({1, 2})).fault,
              HasSubstr("element 0 is 1"));
  EXPECT_EQ(
      Hold(kExp, Floats({1 + 0x8p-23F, 2}), AnswerOf({1, 2}), {.rtol = 1e-3})
          .fault,
      "");
}

// Kills: a copy that is rounded and passes.
TEST(OutputJudge, HoldsCopiesToEveryBit) {
  const auto answer = AnswerOf({1, 2, 1, 2});
  const cases::Limit limit = {.rtol = 1e-3, .atol = 1e-3};
  EXPECT_EQ(Hold(kTwice, Floats({1, 2, 1, 2}), answer, limit).fault, "");
  EXPECT_THAT(
      Hold(kTwice, Floats({1, 2, 1 + 0x1p-23F, 2}), answer, limit).fault,
      HasSubstr("element 2 is 1.0000001"));
}

// Kills: an output of another type or shape, or another integer, that passes.
TEST(OutputJudge, HoldsTypesShapesAndIntegersToTheAnswer) {
  EXPECT_THAT(Hold(kExp, Doubles({1, 2}), AnswerOf({1, 2})).fault,
              HasSubstr("found float64[2], wanted float32"));
  EXPECT_THAT(Hold(kExp, Floats({1, 2, 3}), AnswerOf({1, 2})).fault,
              HasSubstr("wanted [2]"));
  constexpr const char* kIntegers =
      "g (float[2] x) => (int64[2] y) { y = Cast<to = 7>(x) }";
  measure::ExactAnswer integers;
  integers.value = *Tensor::Of<int64_t>({2}, std::vector<int64_t>{3, 4});
  const Value right = integers.value;
  const Value wrong = *Tensor::Of<int64_t>({2}, std::vector<int64_t>{3, 5});
  EXPECT_EQ(Hold(kIntegers, right, integers, {.atol = 9}).fault, "");
  EXPECT_NE(Hold(kIntegers, wrong, integers, {.atol = 9}).fault, "");
}

// Kills: an item of a sequence that is passed over, or is missing.
TEST(OutputJudge, HoldsEachItemOfASequence) {
  constexpr const char* kSplit =
      "g (float[2] x) => (seq(float[1]) y) { y = SplitToSequence(x) }";
  const ValueType element = ValueType::OfTensor(DType::kFloat32, {});
  const ValueType exact = ValueType::OfTensor(DType::kFloat64, {});
  measure::ExactAnswer answer;
  answer.value = Sequence{exact, {Doubles({1}), Doubles({2})}};
  const Value right = Sequence{element, {Floats({1}), Floats({2})}};
  EXPECT_EQ(Hold(kSplit, right, answer).fault, "");
  EXPECT_THAT(
      Hold(kSplit, Sequence{element, {Floats({1}), Floats({3})}}, answer).fault,
      HasSubstr("item 1: element 0 is 3"));
  EXPECT_NE(Hold(kSplit, Sequence{element, {Floats({1})}}, answer).fault, "");
}

// Kills: a pass over elements that the oracle knows nothing of.
TEST(OutputJudge, CountsWhatTheOracleKnows) {
  EXPECT_EQ(Hold(kExp, Floats({1, 2}), AnswerOf({1, 2})).known, 2);
  EXPECT_EQ(Hold(kExp, Floats({9, 9}), AnswerOf({1, 2}, kInf)).known, 0);
  measure::ExactAnswer vague = AnswerOf({1, 2});
  vague.units = vague.hard_units = Doubles({kInf, kInf});
  EXPECT_EQ(Hold(kExp, Floats({1, 2.001F}), vague, {.rtol = 1e-3}).fault, "");
  EXPECT_NE(Hold(kExp, Floats({1, 2.003F}), vague, {.rtol = 1e-3}).fault, "");
  EXPECT_EQ(Hold(kExp, Floats({9, 9}), {}).known, 0);
}

}  // namespace
}  // namespace assay::redrawn

// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/oracle/witness/witness.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <string>

#include "ctest/trial/oracle/oracle_module.h"

namespace assay::witness {
namespace {

Backend& Oracle() {
  static const auto oracle = oracle::OracleOf(ASSAY_REFERENCE_MODULE);
  return *oracle;
}

// x = 1 + 2^-30 and its square, of which double holds no more than the first
// two terms; a reciprocal of 3, rounded to 106 bits.
constexpr std::string_view kRight = R"(# two cases
case Square/double/tame/1
graph g (double[1] x) => (double[1] y) { y = Mul(x, x) }
input x double[1] 0x1.00000004p+0
output y 0x1.00000008p+0:0x1p-60
cotangent y -0x1.8p+0
gradient x -0x1.80000006p+1
tangent x 0x1p+0
jvp y 0x1.00000004p+1
condition y 0x1.00000008p+1

case Third/float16/tame/2
graph g (float16 x) => (float16 y, int64[1] n) { )"
                                    R"(y = Reciprocal(x) s = Shape(x) )"
                                    R"(k = Constant <value_ints = [7]> () )"
                                    R"(n = Concat <axis = 0> (s, k) }
input x float16[] 0x1.8p+1
output y 0x1.5555555555555p-2:0x1.5555555555555p-56
output n 7
)";

std::string With(std::string_view from, std::string_view to) {
  std::string text(kRight);
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

Tally TallyOf(std::string_view text) {
  Tally tally;
  const auto cases = ParseWitness(text);
  EXPECT_TRUE(cases.ok()) << cases.status().message();
  if (!cases.ok()) return tally;
  for (const WitnessCase& one : *cases) Ask(one, Oracle(), &tally);
  return tally;
}

int64_t Outside(const Tally& tally, Question question) {
  int64_t outside = 0;
  for (const Tally::Count& count :
       tally.counts[static_cast<size_t>(question)]) {
    outside += count.outside;
  }
  return outside;
}

TEST(WitnessTest, WhatIsRightIsCounted) {
  const Tally tally = TallyOf(kRight);
  EXPECT_TRUE(IsRight(tally)) << testing::PrintToString(tally.faults);
  EXPECT_EQ(tally.cases, 2);
  EXPECT_EQ(tally.declined, 0);
  EXPECT_EQ(tally.expected, 2);
  EXPECT_EQ(tally.well, 1);  // the other states no condition
  EXPECT_EQ(tally.useless, 0);
  const std::string table = TableOf(tally);
  EXPECT_NE(table.find("| values | double | 3 | 0 | 0 |"), table.npos) << table;
  EXPECT_NE(table.find("| referee | double | 1 | 0 | 0 |"), table.npos);
}

TEST(WitnessTest, EachWrongNumberIsFound) {
  struct Row {
    std::string_view from, to;
    Question question;
    int64_t outside;
  };
  // The oracle's bounds in quad and in MPFR are below a last bit of a tail.
  const std::vector<Row> rows = {
      {"8p+0:0x1p-60", "8p+0:0x1p-61", Question::kValue, 2},
      {"-2:0x1.5555555555555p-56", "-2:0x1.5555555555p-56", Question::kValue,
       2},
      {"output n 7", "output n 8", Question::kValue, 3},
      {"gradient x -0x1.80000006p+1", "gradient x -0x1.80000005p+1",
       Question::kGradient, 3},
      {"jvp y 0x1.00000004p+1", "jvp y 0x1.00000005p+1", Question::kTangent, 3},
      {"jvp y 0x1.00000004p+1", "jvp y 0x1.1p+1", Question::kReferee, 1},
      {"condition y 0x1.00000008p+1", "condition y 0x1.8p+2", Question::kUnits,
       1},
  };
  for (const Row& row : rows) {
    const Tally tally = TallyOf(With(row.from, row.to));
    EXPECT_EQ(Outside(tally, row.question), row.outside)
        << row.from << " becomes " << row.to;
    EXPECT_FALSE(IsRight(tally)) << row.to;
    EXPECT_FALSE(tally.faults.empty());
  }
}

TEST(WitnessTest, WhatIsDeclinedOrUselessIsCounted) {
  const Tally declined = TallyOf(
      "case No/1\ngraph g (float[1] x) => (float[1] y) "
      "{ y = test.None(x) }\ninput x float[1] 1\noutput y 1\n");
  EXPECT_EQ(declined.declined, 1);
  // Nothing is left of the digits of x in double.
  const Tally useless = TallyOf(
      "case Lost/1\ngraph g (float[1] x, float[1] one) => (float[1] y) "
      "{ a = Add(x, one) b = Sub(a, one) y = Identity(b) }\n"
      "input x float[1] 0x1p-60\ninput one float[1] 1\n"
      "output y 0x1p-60\ncondition y 0x1p-60\n");
  EXPECT_EQ(useless.well, 1);
  EXPECT_EQ(useless.useless, 1);
  EXPECT_EQ(UselessShare(useless), 1);
}

TEST(WitnessTest, ABrokenTextIsRefusedWithItsLine) {
  struct Row {
    std::string text, wanted;
  };
  const std::string head =
      "case a\ngraph g (float16[2] x) => (float16[2] y) { y = Relu(x) }\n";
  const std::vector<Row> rows = {
      {"input x float[1] 1\n", "line 1: found no graph"},
      {head + "input x float16[2] 1\n", "line 3: found 1 numbers, wanted 2"},
      {head + "input x float16[2] 1 2049\n", "line 3"},
      {head + "input z float16[2] 1 2\n", "line 3: the graph has no z"},
      {head + "input x float16[2] 1 two\n", "found 'two', wanted a number"},
      {head + "input x float16 1\n", "extents"},
      {head + "result y 1\n", "found 'result'"},
      {head + "output y 1 1\n", "a has no input x"},
      {head + "input x float16[2] 1 2\n", "no output"},
      {"case a\ngraph g (\n", "line 2"},
  };
  for (const Row& row : rows) {
    const auto cases = ParseWitness(row.text);
    ASSERT_FALSE(cases.ok()) << row.text;
    EXPECT_NE(cases.status().message().find(row.wanted), std::string::npos)
        << row.wanted << " in " << cases.status().message();
  }
}

// generate.py draws the cases that sample.txt names, in some seconds.
std::string DrawnSample() {
  std::string text;
  FILE* const pipe = popen(ASSAY_DRAW_SAMPLE, "re");
  EXPECT_NE(pipe, nullptr) << ASSAY_DRAW_SAMPLE;
  if (pipe == nullptr) return text;
  std::array<char, 4096> part;
  while (const size_t size = fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), size);
  }
  EXPECT_EQ(pclose(pipe), 0) << ASSAY_DRAW_SAMPLE;
  return text;
}

TEST(WitnessTest, TheOracleAgreesWithTheSample) {
  const Tally tally = TallyOf(DrawnSample());
  std::cout << TableOf(tally);
  EXPECT_GE(tally.cases, 199);
  EXPECT_EQ(tally.declined, 0);
  EXPECT_TRUE(IsRight(tally)) << testing::PrintToString(tally.faults);
  EXPECT_LE(tally.useless, 7) << testing::PrintToString(tally.notes);
}

}  // namespace
}  // namespace assay::witness

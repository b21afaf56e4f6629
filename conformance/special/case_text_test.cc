// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/case_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "conformance/special/text_parts.h"
#include "conformance/special/value_text.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::special {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kModel =
    "  model (float[2] x) => (float[2] y) { y = Neg(x) }\n";

std::vector<std::string> NamesOf(const std::string& text) {
  const auto cases = ReadCases(text, "t.txt");
  std::vector<std::string> names;
  if (!cases.ok()) return {cases.status().message()};
  for (const CaseText& c : *cases) names.push_back(c.name);
  return names;
}

/// The only output of a case whose `y` has that type and that text.
Result<Value> ValueOf(const std::string& type, const std::string& y) {
  ASSAY_ASSIGN_OR_RETURN(
      const auto cases,
      ReadCases(StrCat("case A/b: c\n  model (", type, " x) => (", type,
                       " y) { y = Identity(x) }\n  x", y, " => y", y, "\n"),
                "t.txt"));
  ASSAY_ASSIGN_OR_RETURN(const cases::CaseData data, DataOf(cases.at(0)));
  return data.sets.at(0).expected.at(0);
}

std::vector<float> FloatsFrom(const std::string& type, const std::string& y) {
  return FloatsOf(Got(ValueOf(type, y)));
}

TEST(ReadCases, MakesACaseOfEachRowTypeAndOpset) {
  const std::string text = StrCat(
      "# a comment\nlet words = a  b\n\ncase $op/${n}_of: because of $n\n"
      "  for op, n in\n    Neg | 1\n    Abs | 2\n  types float16 int8\n"
      "  opsets 6 13\n",
      kModel);
  EXPECT_THAT(
      NamesOf(text),
      ElementsAre("Neg/1_of_float16_opset_6", "Neg/1_of_float16_opset_13",
                  "Neg/1_of_int8_opset_6", "Neg/1_of_int8_opset_13",
                  "Abs/2_of_float16_opset_6", "Abs/2_of_float16_opset_13",
                  "Abs/2_of_int8_opset_6", "Abs/2_of_int8_opset_13"));
  const auto cases = ReadCases(text, "t.txt");
  EXPECT_EQ(cases->at(1).opset, 13);
  EXPECT_EQ(cases->at(4).because, "because of 2");
  EXPECT_EQ(cases->at(0).place, "t.txt:4");
}

TEST(ReadCases, ReplacesNamesAndJoinsLines) {
  const auto cases = ReadCases(
      "let six = 1, 2,\n    3\ncase Cast/to: a reason\n    of two lines\n"
      "  for n in 7 8\n    9\n  types float64\n  opset 9\n"
      "  model ($T[2] x) => ($U[$n] y)\n    { y = A<to = $N, of = $M>(x) }\n"
      "  limit 2^-20 because of roundings\n  x = $six => y = 1\n",
      "t.txt");
  ASSERT_FALSE(cases.ok());  // a name twice
  const auto one = Got(ReadCases(
      "let six = 1, 2,\n    3\ncase Cast/to_$n: a reason\n    of two lines\n"
      "  for n in 7 8\n  types float64\n  opset 9\n"
      "  model ($T[2] x) => ($U[$n] y)\n    { y = A<to = $N, of = $M>(x) }\n"
      "  limit 2^-20 because of roundings\n  x = $six\n  => y = 1\n",
      "t.txt"));
  ASSERT_EQ(one.size(), 2U);
  const CaseText& c = one.at(1);
  EXPECT_EQ(c.name, "Cast/to_8_float64");
  EXPECT_EQ(c.because, "a reason of two lines");
  EXPECT_EQ(c.model,
            "g (double[2] x) => (uint64[8] y) { y = A<to = 11, of = 13>(x) }");
  EXPECT_EQ(c.values, " x = 1, 2, 3 => y = 1");
  EXPECT_EQ(c.opset, 9);
  EXPECT_EQ(c.rtol, 0x1p-20);
  EXPECT_EQ(c.rtol_because, "of roundings");
}

TEST(ReadCases, SaysWhereATextIsWrong) {
  const struct {
    std::string text;
    const char* message;
  } rows[] = {
      {"\nsuite A: b\n", "t.txt:2: found suite A: b, wanted 'case NAME"},
      {"let a\n", "t.txt:1: found a, wanted NAME = TEXT"},
      {"case A/b\n", "t.txt:1: found no model, wanted one"},
      {StrCat("case A/b\n", kModel), "found A/b, wanted NAME: TEXT"},
      {StrCat("case A/b: c\n", kModel, kModel), "found model twice"},
      {StrCat("case A/b: c\n", kModel, "case A/b: c\n", kModel),
       "t.txt:3: found A/b twice, wanted each name once"},
      {StrCat("case $a/b: c\n", kModel),
       "found $a, wanted a name that is known"},
      {StrCat("let a = 1\ncase ${a/b: c\n", kModel), "wanted '}'"},
      {StrCat("case A/b: c\n   types int8\n", kModel), "indented by 3"},
      {"  model\n", "indented by 2"},
      {StrCat("case A/b: c\n  types int7\n", kModel),
       "found int7, wanted a type of elements"},
      {StrCat("case A/b: c\n  opsets six\n", kModel),
       "found 'six', wanted a number"},
      {StrCat("case A/b: c\n  limit 2\n", kModel), "wanted NAME because TEXT"},
      {StrCat("case A/b: c\n  for a, b in\n    1\n", kModel),
       "found 1 cells in '1', wanted 2, apart by ' | '"},
      {StrCat("case A/b: c\n  for a\n", kModel),
       "found a, wanted NAME, NAME in"},
  };
  for (const auto& row : rows) {
    const auto cases = ReadCases(row.text, "t.txt");
    ASSERT_FALSE(cases.ok()) << row.text;
    EXPECT_THAT(cases.status().message(), HasSubstr(row.message)) << row.text;
  }
}

TEST(DataOf, HasFormulasForElements) {
  EXPECT_THAT(FloatsFrom("float[4]", " = 1, -2.5, 2^-3, 3 * (1 + 2)"),
              ElementsAre(1, -2.5, 0.125, 9));
  EXPECT_THAT(FloatsFrom("float[2,3]", " = 10 * i0 + i1"),
              ElementsAre(0, 1, 2, 10, 11, 12));
  EXPECT_THAT(FloatsFrom("float[6]", " = i % 2 == 0 ? i // 4 : -i / 2"),
              ElementsAre(0, -0.5, 0, -1.5, 1, -2.5));
  EXPECT_THAT(FloatsFrom("float[4]", " = i > 0 && i != 3 || i == 0 ? 1 : 7"),
              ElementsAre(1, 1, 1, 7));
  EXPECT_THAT(FloatsFrom("float[2]", " = i >= 1, i <= 0 || i < 0"),
              ElementsAre(0, 0));
  EXPECT_THAT(FloatsFrom("float[2]", " = 1, -3 times least"),
              ElementsAre(0x1p-149F, -0x1.8p-148F));
  EXPECT_THAT(FloatsFrom("float[3]", " = inf, -inf, 2 - 3 - 4"),
              ElementsAre(INFINITY, -INFINITY, -5));
  EXPECT_THAT(FloatsFrom("float[k]", "[1 + 1] = 5, 6"), ElementsAre(5, 6));
  EXPECT_THAT(FloatsFrom("float[0]", " = none"), ElementsAre());
  EXPECT_TRUE(std::signbit(FloatsFrom("float[1]", " = -0").at(0)));
}

TEST(DataOf, HasEveryKindOfValue) {
  EXPECT_THAT(
      ValueOf("string[3]", " = \"a;\\\"\", \"\\n\", @2")->tensor()->strings(),
      ElementsAre("a;\"", "\n", "s2"));
  EXPECT_EQ(
      ValueOf("uint64[1]", " = 2^64 - 1")->tensor()->elements<uint64_t>()[0],
      UINT64_MAX);
  EXPECT_EQ(ValueOf("int64[1]", " = -2^63")->tensor()->elements<int64_t>()[0],
            INT64_MIN);
  EXPECT_THAT(
      ValueOf("uint8[2]", " = @3, @zero")->tensor()->elements<uint8_t>(),
      ElementsAre(4, 0));
  EXPECT_THAT(ValueOf("uint16[2]", " = 1, 2 as bits of float16")
                  ->tensor()
                  ->elements<uint16_t>(),
              ElementsAre(0x3C00, 0x4000));
  const auto list = ValueOf("seq(float[2])", " = (1, 2), (3)");
  ASSERT_EQ(list->sequence()->items.size(), 2U);
  EXPECT_EQ(list->sequence()->items[1].tensor()->elements<float>()[1], 3);
  const auto shaped = ValueOf("seq(float)", " = ([2] 1, 2), ([] 3)");
  EXPECT_EQ(shaped->sequence()->items[1].tensor()->shape().rank(), 0);
  const auto map = ValueOf("map(string, float)", " = \"b\": 1, \"a\": 2");
  EXPECT_THAT(map->map()->keys.strings(), ElementsAre("b", "a"));
  EXPECT_EQ(map->map()->values[1].tensor()->elements<float>()[0], 2);
}

TEST(DataOf, SaysWhatIsWrongInValues) {
  const struct {
    const char* type;
    const char* y;
    const char* message;
  } kRows[] = {
      {"float[3]", " = 1, 2",
       "t.txt:1: A/b: found 2 elements, wanted 3, those of [3]"},
      {"float[1]", " = 0.1", "found 0.1, wanted a number that float32 has"},
      {"float16[1]", " = 2049", "wanted a number that float16 has"},
      {"float[k]", " = 1", "wanted a shape before its elements"},
      {"float[1]", " = \"a\"", "found a text, wanted numbers for float32"},
      {"string[1]", " = 1", "found a number, wanted texts or marks"},
      {"complex64[1]", " = 1", "found a number, wanted marks for complex64"},
      {"float[1]", " = 1 2", "found '2', wanted ',', ';' or the end"},
      {"float[1]", " = two", "found two, wanted a number, i, i0 to i5"},
      {"float[1]", " = i1", "found i1, wanted a number"},
      {"float[1]", " = (1", "wanted ')'"},
      {"float[1]", " = ", "wanted a number"},
      {"float[1]", " = 1 ? 2", "wanted ':'"},
      {"float[1]", " = 1 & 2", "found &, wanted a name, a number"},
      {"optional(float[1])", " = 1", "wanted a tensor, a sequence or a map"},
      {"seq(float[1])", " = 1", "wanted '('"},
      {"map(int64, float)", " = 1, 2", "wanted ':'"},
      {"float[1]", " = 1; z = 2", "found z, wanted an input or an output"},
      {"float[1]", " = 1; x = 2", "found x twice, wanted each value once"},
  };
  for (const auto& row : kRows) {
    const auto value = ValueOf(row.type, row.y);
    ASSERT_FALSE(value.ok()) << row.y;
    EXPECT_THAT(value.status().message(), HasSubstr(row.message)) << row.y;
  }
  const auto fault_of = [](const std::string& lines) {
    const auto cases = ReadCases("case A/b: c\n" + lines, "t.txt");
    return DataOf(cases->at(0)).status().message();
  };
  EXPECT_THAT(fault_of(StrCat(kModel, "  x = 1\n")),
              HasSubstr("found no value, wanted one for y"));
  EXPECT_THAT(fault_of(StrCat(kModel, "  x = 1 => y = \"a\n")),
              HasSubstr("found \"a, wanted a \" at the end of the text"));
  EXPECT_THAT(fault_of("  model (float x\n"), HasSubstr("t.txt:1: A/b"));
}

// Kills: an expected value that is asked for, or is taken in silence, where a
// case has inputs alone.
TEST(InputsOf, WantsTheInputsAndNoOutput) {
  const auto read = [](const std::string& values) {
    const auto cases =
        ReadCases(StrCat("case A/b: c\n", kModel, "  ", values), "t.txt");
    return InputsOf(cases->at(0));
  };
  const auto data = Got(read("x = 1, 2\n"));
  EXPECT_EQ(data.sets.at(0).inputs.at(0).tensor()->elements<float>()[1], 2);
  EXPECT_TRUE(data.sets.at(0).expected.empty());
  EXPECT_THAT(read("x = 1 => y = 1\n").status().message(),
              HasSubstr("t.txt:1: A/b: found y, wanted an input"));
  EXPECT_THAT(read("y = 1\n").status().message(), HasSubstr("found y"));
}

TEST(TypesOf, NamesClassesAndLeavesOut) {
  EXPECT_THAT(TypesOf("float32 int8 float32"),
              ElementsAre(DType::kInt8, DType::kFloat32));
  EXPECT_THAT(TypesOf("floats -bfloat16 -float64"),
              ElementsAre(DType::kFloat16, DType::kFloat32));
  EXPECT_EQ(TypesOf("numbers").size(), 12U);
  EXPECT_EQ(TypesOf("tensors").size(), 16U);
  EXPECT_EQ(TypesOf("all").size(), 26U);
}

TEST(EncodeExactly, TakesANumberExactlyOrNotAtAll) {
  struct Row {
    DType type;
    long double number;
    uint64_t bits;
  };
  constexpr Row kRight[] = {
      {DType::kFloat16, 1, 0x3C00},
      {DType::kFloat16, 0x1p-24, 1},
      {DType::kFloat16, 0x1p-14, 0x400},
      {DType::kFloat16, -65504, 0xFBFF},
      {DType::kFloat16, -0.0, 0x8000},
      {DType::kBFloat16, 1.5, 0x3FC0},
      {DType::kFloat32, 0x1p-149, 1},
      {DType::kFloat64, 0.1, 0x3FB999999999999A},
      {DType::kInt8, -128, 0xFFFFFFFFFFFFFF80},
      {DType::kUint64, 0x1p63, 1ULL << 63},
      {DType::kInt64, 9007199254740993, 9007199254740993},
      {DType::kFloat8E4M3FN, 448, 0x7E},
      {DType::kInt4, -8, 0xFFFFFFFFFFFFFFF8},
      {DType::kUint4, 15, 15},
      {DType::kBool, 1, 1},
  };
  for (const Row& row : kRight) {
    EXPECT_EQ(EncodeExactly(row.type, row.number), row.bits)
        << ToString(row.type) << " " << row.number;
  }
  constexpr Row kWrong[] = {
      {DType::kFloat16, 2049, 0},     {DType::kFloat16, 65520, 0},
      {DType::kFloat16, 0x1p-25, 0},  {DType::kBFloat16, 257, 0},
      {DType::kFloat32, 0.1, 0},      {DType::kFloat32, 1e300, 0},
      {DType::kFloat64, 0.1L, 0},     {DType::kInt8, 128, 0},
      {DType::kInt8, 0.5, 0},         {DType::kUint8, -1, 0},
      {DType::kBool, 2, 0},           {DType::kInt64, 0x1p63, 0},
      {DType::kFloat8E4M3FN, 449, 0}, {DType::kFloat8E4M3FN, INFINITY, 0},
      {DType::kUint4, 16, 0},
  };
  for (const Row& row : kWrong) {
    EXPECT_THROW(EncodeExactly(row.type, row.number), std::invalid_argument)
        << ToString(row.type) << " " << row.number;
  }
}

}  // namespace
}  // namespace assay::special

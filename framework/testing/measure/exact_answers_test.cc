// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/exact_answers.h"

#include <gtest/gtest.h>

#include <fstream>

#include "framework/core/numbers.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"
#include "framework/testing/support/tensors_fixture.h"

namespace assay::measure {
namespace {

namespace fs = std::filesystem;

class ExactAnswersTest : public testing::Test {
 protected:
  const file::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path() / "answers";
};

TEST_F(ExactAnswersTest, WhatWasWrittenIsRead) {
  Sequence texts{.element = ValueType::OfTensor(DType::kString, {}),
                 .items = {}};
  texts.items.emplace_back(Strings({"a"}));
  std::vector<ExactAnswer> answers(4);
  answers[0] = {
      {Doubles({1, 1e300}), Doubles({0x1p-60, 0}), Doubles({0, 0x1p-70})},
      Doubles({3, 4}),
      Doubles({5, 6}),
      {Doubles({7, 8}), Doubles({9, 10})}};
  answers[1].value = *Tensor::Of<int64_t>({0}, {});
  answers[2].value = texts;
  const fs::path file = AnswersFile(folder_ / "ab", 3);
  const ExactAnswers written = {
      {"vjp 1", {answers[1]}}, {"evaluate", answers}, {"", {}}};
  ASSERT_TRUE(WriteAnswers(file, written).ok());
  const auto lists = Got(ReadAnswers(file));
  ASSERT_EQ(lists.size(), 3U);
  EXPECT_EQ(lists.at("vjp 1").at(0).value.tensor()->Signature(), "int64[0]");
  EXPECT_TRUE(lists.at("").empty());
  const std::vector<ExactAnswer>& read = lists.at("evaluate");
  ASSERT_EQ(read.size(), 4U);
  EXPECT_EQ(read[0].value.tensor()->elements<double>()[1], 1e300);
  EXPECT_EQ(read[0].tail.elements<double>()[0], 0x1p-60);
  EXPECT_EQ(read[0].bound.elements<double>()[1], 0x1p-70);
  EXPECT_EQ(read[0].units.elements<double>()[1], 4);
  EXPECT_EQ(read[0].hard_units.elements<double>()[1], 6);
  EXPECT_EQ(read[0].hull.low.elements<double>()[0], 7);
  EXPECT_EQ(read[0].hull.high.elements<double>()[1], 10);
  EXPECT_EQ(read[1].value.tensor()->Signature(), "int64[0]");
  EXPECT_FALSE(read[1].tail.defined() || read[1].bound.defined());
  EXPECT_EQ(read[2].value.sequence()->items[0].tensor()->strings()[0], "a");
  EXPECT_FALSE(read[3].value.present());
}

// Kills: a checksum that leaves out a byte or is not looked at; a length that
// is believed; a format that is not looked at.
TEST_F(ExactAnswersTest, WhatIsTornOrChangedIsDataLoss) {
  const fs::path file = AnswersFile(folder_, 0);
  const ExactAnswers answers = {
      {"evaluate",
       {{{Doubles({1, 2}), Doubles({0, 0}), Doubles({0, 0})}, {}}}}};
  ASSERT_TRUE(WriteAnswers(file, answers).ok());
  const std::string whole = *file::ReadFile(file);
  const auto expect_loss = [&](const std::string& bytes, size_t at) {
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_EQ(ReadAnswers(file).status().code(), StatusCode::kDataLoss) << at;
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    expect_loss(changed, i);
    expect_loss(whole.substr(0, i), i);
  }
  expect_loss(whole + "x", whole.size());
  std::ofstream(file, std::ios::binary) << whole;
  EXPECT_TRUE(ReadAnswers(file).ok());
  ASSERT_TRUE(WriteAnswers(file, {}).ok());
  EXPECT_TRUE(ReadAnswers(file).ok()) << "no answers are no loss";
}

// With the right checksum, so that what is wrong is in the frame: none, a part
// of one, one that claims a window of a gigabyte, and bytes behind it. Kills: a
// frame whose end or errors are not looked at.
TEST_F(ExactAnswersTest, AFrameThatIsNoneIsDataLoss) {
  const fs::path file = AnswersFile(folder_, 0);
  const std::vector<double> many(1000, 0.1);
  ASSERT_TRUE(WriteAnswers(file, {{"x", {{{Doubles(many)}}}}}).ok());
  const std::string whole = *file::ReadFile(file);
  const size_t begin = whole.find('\n') + 1;
  const std::string magic = whole.substr(0, begin);
  const std::string frame = whole.substr(begin, whole.size() - begin - 8);
  const auto read = [&](const std::string& body) {
    std::string bytes = magic + body;
    const uint64_t sum = core::StableHash(bytes);
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    std::ofstream(file, std::ios::binary) << bytes;
    return ReadAnswers(file).status();
  };
  EXPECT_TRUE(read(frame).ok());
  const std::string wide("\x28\xB5\x2F\xFD\x00\xA0\x01\x00\x00", 9);
  for (const std::string& body :
       {std::string(), frame.substr(0, frame.size() - 1), frame.substr(0, 9),
        std::string("no frame at all"), wide, frame + "x", frame + frame}) {
    EXPECT_EQ(read(body).code(), StatusCode::kDataLoss) << body.size();
  }
}

TEST_F(ExactAnswersTest, WhereNothingIsOrCanBeWrittenIsSaid) {
  EXPECT_EQ(ReadAnswers(folder_ / "none").status().code(),
            StatusCode::kNotFound);
  fs::create_directories(folder_ / "taken/set_0.exact/x");
  EXPECT_EQ(WriteAnswers(AnswersFile(folder_ / "taken", 0), {}).code(),
            StatusCode::kResourceExhausted);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_EQ(WriteAnswers(AnswersFile(folder_ / "file/below", 0), {}).code(),
            StatusCode::kResourceExhausted);
}

TEST(OraclePrecision, IsTwiceThatOfTheWidestType) {
  const struct {
    const char* dtypes;
    Precision precision;
  } rows[] = {{"float32", Precision::kDouble},
              {"float16 int64", Precision::kDouble},
              {"complex64 float32", Precision::kDouble},
              {"", Precision::kDouble},
              {"float64", Precision::kQuad},
              {"float32 float64 int64", Precision::kQuad},
              {"complex128", Precision::kQuad}};
  for (const auto& row : rows) {
    EXPECT_EQ(OraclePrecision(row.dtypes), row.precision) << row.dtypes;
  }
}

}  // namespace
}  // namespace assay::measure

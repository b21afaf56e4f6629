// SPDX-License-Identifier: Apache-2.0

#include "framework/file/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::file {
namespace {

using Record = std::vector<std::string>;

std::string Written(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) {
    for (size_t i = 0; i < record.size(); ++i) {
      if (i > 0) text += ',';
      AppendCsvField(text, record[i]);
    }
    text += '\n';
  }
  return text;
}

std::vector<Record> ReadAll(CsvReader& reader) {
  std::vector<Record> records;
  Record record;
  while (reader.Next(&record)) records.push_back(record);
  return records;
}

// Kills: no quotes for one of , " \n \r; quotes inside not doubled; quotes for
// fields that need none.
TEST(CsvTest, FieldsAreQuotedWhereRfc4180SaysSo) {
  const struct {
    std::string_view field;
    std::string_view written;
  } rows[] = {
      {"", ""},
      {"plain text", "plain text"},
      {"a,b", "\"a,b\""},
      {"say \"a\"", "\"say \"\"a\"\"\""},
      {"two\nlines", "\"two\nlines\""},
      {"carriage\rreturn", "\"carriage\rreturn\""},
      {"\"", "\"\"\"\""},
      {"caf\xC3\xA9", "caf\xC3\xA9"},
      {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
      {"@a,b", "\"'@a,b\""},
      {"'-x", "''-x"},
      {"'x' is it", "'x' is it"},
      {"-1.5e-30", "-1.5e-30"},
      {"-inf", "-inf"},
      {"-", "-"},
  };
  for (const auto& row : rows) {
    std::string written;
    AppendCsvField(written, row.field);
    EXPECT_EQ(written, row.written);
  }
}

// Kills: a reader that drops an empty last field, ends a record at a quoted
// line break, or stops at a NUL.
TEST(CsvTest, WhatIsWrittenIsRead) {
  const std::vector<std::vector<Record>> tables = {
      {},
      {{""}},
      {{"a", "b"}, {"c", "d"}},
      {{"", "", ""}, {"x", "", ""}},
      {{"a,b\"\"c", "\n\n", "\r\n"}, {"\r", "\"", ",\""}},
      {{std::string("nul\0inside", 10), "\xFF\xFE"}},
      {{"one"}, {"two", "fields"}, {"and", "three", "of them"}},
      {{"=1+1", "'=1+1", "''@", "-5", "-five", "+,", "'quoted'"}},
  };
  for (const auto& table : tables) {
    const std::string text = Written(table);
    CsvReader reader(text);
    EXPECT_EQ(ReadAll(reader), table) << text;
    EXPECT_TRUE(reader.status().ok()) << reader.status().ToString();
  }
}

// Kills: '\r' kept in the last field; a quoted last field before "\r\n"
// refused; the last record lost where the file has no line end.
TEST(CsvTest, LinesOfOtherToolsAreRead) {
  const std::vector<Record> wanted = {{"a", "b c"}, {"d", ""}};
  for (const std::string_view text :
       {"a,b c\nd,\n", "a,b c\nd,", "a,b c\r\nd,\r\n",
        "a,\"b c\"\r\nd,\"\"\r\n", "\"a\",\"b c\"\nd,\"\""}) {
    CsvReader reader(text);
    EXPECT_EQ(ReadAll(reader), wanted) << text;
    EXPECT_TRUE(reader.status().ok()) << text;
  }
}

// Kills: a look at the character behind the text.
TEST(CsvTest, NothingBehindTheTextIsRead) {
  const struct {
    std::string_view text;
    size_t size;
    Record wanted;
  } rows[] = {
      {"a,\"b\"", 2, {"a", ""}},
      {"\"a\"\"b\"", 3, {"a"}},
      {"\"a\"b", 3, {"a"}},
      {"a,b", 1, {"a"}},
  };
  for (const auto& row : rows) {
    CsvReader reader(row.text.substr(0, row.size));
    EXPECT_EQ(ReadAll(reader), std::vector<Record>{row.wanted}) << row.text;
    EXPECT_TRUE(reader.status().ok()) << row.text;
  }
}

// Kills: an unclosed quote read as a field; text behind a quote glued to it; a
// line number that does not count the breaks in quotes.
TEST(CsvTest, BrokenQuotesAreDataLossWithTheirLine) {
  const struct {
    std::string_view text;
    size_t whole;  // records before it
    std::string_view message;
  } rows[] = {
      {"a,\"b", 0, "line 1: a quoted field is not closed"},
      {"a\n\"", 1, "line 2: a quoted field is not closed"},
      {"\"a\nb\",c\nd,\"e\n\n", 1, "line 3: a quoted field is not closed"},
      {"\"a\"b,c\n", 0,
       "line 1: found 'b' behind a quoted field, wanted a comma"},
      {"x\n\"a\" ,c\n", 1,
       "line 2: found ' ' behind a quoted field, wanted a comma"},
  };
  for (const auto& row : rows) {
    CsvReader reader(row.text);
    EXPECT_EQ(ReadAll(reader).size(), row.whole) << row.text;
    EXPECT_EQ(reader.status().code(), StatusCode::kDataLoss) << row.text;
    EXPECT_EQ(reader.status().message(), row.message) << row.text;
    Record record;
    EXPECT_FALSE(reader.Next(&record)) << "after an error: " << row.text;
  }
}

// Kills: line() of the record's end, or one that quoted breaks do not move.
TEST(CsvTest, LineIsWhereTheRecordBegan) {
  CsvReader reader("a\n\"b\n\nb\"\nc\n");
  Record record;
  for (const int64_t line : {1, 2, 5}) {
    ASSERT_TRUE(reader.Next(&record));
    EXPECT_EQ(reader.line(), line);
  }
}

// Kills: a fixed number of digits, "-nan", a locale's comma.
TEST(CsvTest, NumbersReadBackAsTheSameValue) {
  using Limits = std::numeric_limits<double>;
  const struct {
    double value;
    std::string_view text;
  } rows[] = {
      {0.0, "0"},
      {-0.0, "-0"},
      {0.1, "0.1"},
      {1e-7, "1e-07"},
      {1.0 / 3, "0.3333333333333333"},
      {Limits::max(), "1.7976931348623157e+308"},
      {Limits::denorm_min(), "5e-324"},
      {Limits::infinity(), "inf"},
      {-Limits::infinity(), "-inf"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(ToText(row.value), row.text);
    const auto read = ParseDouble(row.text);
    ASSERT_TRUE(read.has_value()) << row.text;
    EXPECT_EQ(*read, row.value);
    EXPECT_EQ(std::signbit(*read), std::signbit(row.value)) << row.text;
  }
  EXPECT_EQ(ToText(Limits::quiet_NaN()), "nan");
  EXPECT_EQ(ToText(-Limits::quiet_NaN()), "nan");
  EXPECT_TRUE(std::isnan(ParseDouble("nan").value_or(0)));
  for (const int64_t value : {int64_t{0}, std::numeric_limits<int64_t>::min(),
                              std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(ParseInt(ToText(value)), value);
  }
}

// Kills: a parser that stops at the first odd character, or that skips blanks.
TEST(CsvTest, OtherTextsAreNoNumbers) {
  for (const std::string_view text :
       {"", " ", "1 ", " 1", "1,5", "+1", "0x10", "1e", "one", "--1"}) {
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
    EXPECT_EQ(ParseInt(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseInt("1.0"), std::nullopt);
  EXPECT_EQ(ParseInt("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseDouble("1e999"), std::nullopt);
}

}  // namespace
}  // namespace assay::file

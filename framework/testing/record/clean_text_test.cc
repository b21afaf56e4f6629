// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/clean_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace assay::record {
namespace {

// Kills: a byte let through that ends a page or an XML file; a character that
// is right and gets lost.
TEST(CleanTextTest, WhatNoReaderCanTakeBecomesAQuestionMark) {
  const struct {
    std::string text;
    std::string clean;
  } rows[] = {
      {"", ""},
      {"plain, \"quoted\"\n\tand ~", "plain, \"quoted\"\n\tand ~"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF",
       "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF"},
      {"\xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBD",
       "\xED\x9F\xBF \xEE\x80\x80 "
       "\xEF\xBF\xBD"},
      // the first and the last of each length
      {"\xC2\xA0 \xDF\xBF", "\xC2\xA0 \xDF\xBF"},
      {"\xE0\xA0\x80 \xEF\xBF\xBD", "\xE0\xA0\x80 \xEF\xBF\xBD"},
      {"\xF0\x90\x80\x80", "\xF0\x90\x80\x80"},
      {std::string("a\0b\r\x1B\x7F", 6), "a?b???"},
      {"Gr\xFC\xDF e", "Gr?? e"},              // Latin-1
      {"\xC3", "?"},                           // torn
      {"\xE2\x82", "??"},                      // torn
      {"\xE2(\xA1", "?(?"},                    // no continuation
      {"\xC0\xAF", "??"},                      // overlong
      {"\xC1\xBF", "??"},                      // overlong
      {"\xE0\x9F\xBF", "???"},                 // overlong
      {"\xF0\x8F\xBF\xBF", "????"},            // overlong
      {"\xED\xA0\x80\xED\xBF\xBF", "??????"},  // surrogates
      {"\xF4\x90\x80\x80", "????"},            // above U+10FFFF
      {"\xC2\x80\xC2\x9F", "????"},            // controls
      {"\xF5\x80\x80\x80", "????"},
      {"\xF8\x88\x80\x80\x80", "?????"},       // five bytes
      {"\xEF\xBF\xBE\xEF\xBF\xBF", "??????"},  // U+FFFE, U+FFFF
      {"\x80\xBF\xFF", "???"},
  };
  for (const auto& row : rows) EXPECT_EQ(CleanText(row.text), row.clean);
}

// Kills: a limit that is one off; a cut inside a character; a cut unsaid.
TEST(CleanTextTest, ALongTextIsCutBehindACharacterAndSaysItsLength) {
  const std::string most(kMostText, 'x');
  EXPECT_EQ(CleanText(most), most);
  const std::string note = " [cut, of 4097 bytes]";
  const std::string left(kMostText - note.size(), 'x');
  EXPECT_EQ(CleanText(most + "y"), left + note);
  EXPECT_EQ(CleanText(left + note), left + note);
  const std::string less = left.substr(1);
  EXPECT_EQ(CleanText(less + "\xC3\xA9" + std::string(note.size(), 'x')),
            less + note);
  const std::string fits = std::string(kMostText - 2, 'x') + "\xC3\xA9";
  EXPECT_EQ(CleanText(fits), fits);
  EXPECT_LT(CleanText(std::string(70U << 20U, '\xFF')).size(), kMostText + 1);
}

// Kills: a column that is left out; a key under which no case is found.
TEST(CleanTextTest, AllTextsOfARowAreCleanedButItsKey) {
  AccuracyRow row;
  row.test_id = row.backend = std::string(kMostText + 1, 'k');
  row.output_name = row.worst_got = row.worst_want = "\xFF";
  row.n_elem = 3;
  const AccuracyRow clean = Cleaned(row);
  EXPECT_EQ(clean.test_id, row.test_id);
  EXPECT_EQ(clean.backend, row.backend);
  EXPECT_EQ(clean.output_name + clean.worst_got + clean.worst_want, "???");
  EXPECT_EQ(clean.n_elem, 3);
  BackendRow backend;
  backend.version = backend.device = std::string("\0", 1);
  EXPECT_EQ(Cleaned(backend).version + Cleaned(backend).device, "??");
}

// Kills: a second line; half a character; a limit that the note passes.
TEST(CleanTextTest, OneLineIsNoLongerThanItMay) {
  EXPECT_EQ(OneLine("a\n\tb", 10), "a  b");
  EXPECT_EQ(OneLine("0123456789", 10), "0123456789");
  const std::string text =
      std::string(9, 'x') + "\xC3\xA9" + std::string(100, 'y');
  EXPECT_EQ(OneLine(text, 31), "xxxxxxxxx [102 bytes left out]");
  EXPECT_EQ(OneLine(text, 32), "xxxxxxxxx\xC3\xA9 [100 bytes left out]");
  EXPECT_EQ(OneLine(text, 1), " [111 bytes left out]");
}

TEST(CleanTextTest, APathThatIsNoTextIsNamed) {
  EXPECT_TRUE(CheckPath("runs/\xC3\xA9").ok());
  const Status status = CheckPath("runs/\xFF");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr("'runs/?'"));
}

}  // namespace
}  // namespace assay::record

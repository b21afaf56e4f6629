// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/harness_mutant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/core/text.h"

namespace assay::harness_mutants {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHead =
    "# a comment\n"
    "mutant a of limit in x/a.cc\n"
    "  killed by unit/x:A.* because \"nothing is \\\"out\\\"\"\n";

TEST(HarnessMutantTest, ASentenceAndItsTextsAreRead) {
  const auto mutants = ParseHarnessMutants(
      StrCat(kHead, "- n += a;\n- n += b;\n+ n += 0;\n\n",
             "mutant b of limit in y.cc killed by program because \"y\"\n- z"));
  ASSERT_TRUE(mutants.ok()) << mutants.status().message();
  ASSERT_EQ(mutants->size(), 2U);
  const HarnessMutant& a = mutants->front();
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.mutant_class, "limit");
  EXPECT_EQ(a.file, "x/a.cc");
  EXPECT_EQ(a.killer, "unit/x");
  EXPECT_EQ(a.filter, "A.*");
  EXPECT_EQ(a.because, "nothing is \"out\"");
  EXPECT_EQ(a.find, " n += a;\n n += b;");
  EXPECT_EQ(a.replacement, " n += 0;");
  EXPECT_EQ(mutants->back().killer, "program");
  EXPECT_EQ(mutants->back().filter, "");
  EXPECT_EQ(mutants->back().replacement, "");
}

// Kills: a list that is read up to its first fault, or past it.
TEST(HarnessMutantTest, WhatIsNoSentenceIsNamedWithItsLine) {
  const struct {
    std::string text;
    const char* message;
  } rows[] = {
      {"- x", "line 1: found no mutant before"},
      {"mutant a of b\n- x", "line 2: found '', wanted in"},
      {"mutant a of b in c killed by d because \"e\"\n- x",
       "line 2: found the killer 'd', wanted unit/NAME, program or nobody"},
      {"mutant a of b in c killed by program because e\n- x",
       "line 2: found 'e', wanted a reason in quotes"},
      {"mutant a of b in c killed by program because \"e\" f\n- x",
       "wanted a reason in quotes"},
      {StrCat(kHead, "- x\n", kHead, "- y"),
       "line 8: a is there a second time"},
      {StrCat(kHead, "+ x"), "a says no text to find"},
      {StrCat(kHead, "+ x\nmutant b of c"), "line 5: a says no text to find"},
  };
  for (const auto& row : rows) {
    const auto mutants = ParseHarnessMutants(row.text);
    ASSERT_FALSE(mutants.ok()) << row.text;
    EXPECT_THAT(mutants.status().message(), HasSubstr(row.message));
  }
}

TEST(HarnessMutantTest, BlanksAndLineBreaksMatchEachOther) {
  const HarnessMutant mutant = {.find = " if (a) b();", .replacement = "c();"};
  const auto mutated = Mutated(mutant, "x;\n  if (a)\n    b();\ny;\n");
  ASSERT_TRUE(mutated.ok()) << mutated.status().message();
  EXPECT_EQ(*mutated, "x;\n  c();\ny;\n");
}

// Kills: a mutant that no longer is one and passes for killed.
TEST(HarnessMutantTest, ATextThatIsNotThereOnceIsRefused) {
  const HarnessMutant mutant = {.name = "m", .file = "f.cc", .find = " a;"};
  for (const auto& [source, message] :
       {std::pair("b; ab", "mutant m: found its text 0 times in f.cc"),
        std::pair("a; a;", "mutant m: found its text 2 times in f.cc"),
        std::pair("", "0 times")}) {
    const auto mutated = Mutated(mutant, source);
    ASSERT_FALSE(mutated.ok()) << source;
    EXPECT_THAT(mutated.status().message(), HasSubstr(message));
  }
}

}  // namespace
}  // namespace assay::harness_mutants

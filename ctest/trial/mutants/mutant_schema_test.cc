// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/mutants/mutant_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace assay::harness_mutants {
namespace {

using testing::HasSubstr;

constexpr char kSource[] = R"(
#include <cstdio>
int Half(int n) { return n / 2; }
int Twice(int n) {
  int twice = 2 * n;
  return twice;
}
int main() { std::printf("%d %d", Half(6), Twice(6)); }
)";

HarnessMutant Mutant(const char* name, const char* find,
                     const char* replacement) {
  HarnessMutant mutant;
  mutant.name = name;
  mutant.file = "f.cc";
  mutant.find = find;
  mutant.replacement = replacement;
  return mutant;
}

/// What a program's command prints.
std::string Printed(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    text += static_cast<char>(c);
  }
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << text;
  return text;
}

// Kills: a mutant that is never on, or always, or that another one is on with.
TEST(MutantSchemaTest, EachMutantIsOnByItsNameAndNoneByDefault) {
  const std::vector<HarnessMutant> mutants = {
      Mutant("half_is_third", " return n / 2;", " return n / 3;"),
      Mutant("twice_is_same", " 2 * n", " n"),
      Mutant("twice_is_one_more", " return twice;", " return twice + 1;")};
  const auto schema = SchemaOf(mutants, kSource);
  ASSERT_TRUE(schema.ok()) << schema.status().message();
  const std::string stem = testing::TempDir() + "/schema";
  std::ofstream(stem + ".cc") << *schema;
  Printed("c++ -std=c++20 -I" ASSAY_ROOT " " + stem + ".cc -o " + stem);
  EXPECT_EQ(Printed("env -u ASSAY_MUTANT " + stem), "3 12");
  const auto with = [&](const std::string& mutant) {
    return Printed("ASSAY_MUTANT=" + mutant + " " + stem);
  };
  EXPECT_EQ(with(""), "3 12");
  EXPECT_EQ(with("half"), "3 12");
  EXPECT_EQ(with("half_is_third"), "2 12");
  EXPECT_EQ(with("twice_is_same"), "3 6");
  EXPECT_EQ(with("twice_is_one_more"), "3 13");
}

// Kills: a change that no function takes, and that would be lost.
TEST(MutantSchemaTest, ATextOutsideOfAFunctionIsRefused) {
  const struct {
    const char* find;
    const char* message;
  } rows[] = {
      {" int Half(int n)", "mutant m: its text in f.cc is not within the body"},
      {" return n / 2; } int Twice(int n) {", "is not within the body"},
      {" n", "mutant m: found its text"},
  };
  for (const auto& row : rows) {
    const HarnessMutant mutant = Mutant("m", row.find, "");
    EXPECT_THAT(SchemaOf({&mutant, 1}, kSource).status().message(),
                HasSubstr(row.message))
        << row.find;
  }
}

TEST(MutantSchemaTest, WithoutMutantsTheSourceStays) {
  EXPECT_THAT(SchemaOf({}, kSource).value(), HasSubstr(kSource));
}

}  // namespace
}  // namespace assay::harness_mutants

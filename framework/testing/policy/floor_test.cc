// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/floor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::policy {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

/// Cases of those test_ids.
std::vector<cases::TestCase> CasesOf(const std::vector<std::string>& test_ids) {
  std::vector<cases::TestCase> cases;
  for (const std::string& id : test_ids) {
    cases::TestCase& c = cases.emplace_back();
    c.test_id = id;
    c.suite = id.substr(0, id.find('/'));
    c.op = id.substr(c.suite.size() + 1, id.rfind('/') - c.suite.size() - 1);
  }
  return cases;
}

/// The lines on a machine with avx2 and a library that takes old code, over the
/// cases.
Floor FloorOf(std::string_view text,
              const std::vector<cases::TestCase>& planned) {
  Floor floor;
  int number = 0;
  for (; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
    const std::string_view said = text.substr(0, text.find('\n'));
    ++number;
    if (said.empty() || said.starts_with('#')) continue;
    Result<FloorLine> line = ParseFloorLine(said);
    EXPECT_TRUE(line.ok()) << line.status().ToString();
    const bool met = line->when.Holds({.cpu = {"avx2"}, .isa = {"old"}});
    const Status added = floor.Add(*line, StrCat("passing.txt:", number), met);
    EXPECT_TRUE(added.ok()) << added.ToString();
  }
  for (const cases::TestCase& c : planned) floor.Consider(c);
  return floor;
}

const std::vector<std::string> kPlanned = {"node/A/a", "node/A/b", "node/B/a",
                                           "node/B/b", "other/A/a"};

// Kills: an exception ignored, or one that a later rule may not take back; a
// condition read the wrong way round; a named case taken out by a rule.
TEST(FloorTest, RulesExceptionsAndNamesMakeASet) {
  const struct {
    std::string lines;
    std::vector<std::string> in_force;
  } rows[] = {
      {"", {}},
      {"node/B/b\nnode/A/a\nnode/C/c when cpu:avx2\nnode/D/d when cpu:no\n",
       {"node/A/a", "node/B/b", "node/C/c"}},
      {"all where suite:node\n",
       {"node/A/a", "node/A/b", "node/B/a", "node/B/b"}},
      {"all where suite:node\nbut not where op:A\nall where id:node/A/b\n",
       {"node/A/b", "node/B/a", "node/B/b"}},
      {"but not where op:A\nall where suite:node\n",
       {"node/A/a", "node/A/b", "node/B/a", "node/B/b"}},
      {"node/A/a\nnode/Gone/a\nall where op:B\nbut not where id:*/a\n",
       {"node/A/a", "node/B/b", "node/Gone/a"}},
      {"all where op:B when cpu:no\nall where id:node/B/a when cpu:avx2\n",
       {"node/B/a"}},
      {"all where op:B\nbut not where id:*/a when cpu:avx2\n"
       "but not where id:*/b when cpu:no\n",
       {"node/B/b"}},
      {"all where op:B\nall where op:B when cpu:no\n",
       {"node/B/a", "node/B/b"}},
      {"all where op:B when not isa:new and cpu:avx2\n"
       "but not where id:*/a when isa:old\n",
       {"node/B/b"}},
  };
  for (const auto& row : rows) {
    const Floor floor = FloorOf(row.lines, CasesOf(kPlanned));
    EXPECT_THAT(floor.InForce(), ElementsAreArray(row.in_force)) << row.lines;
  }
}

/// The lines with those that count what they make, as they are written.
std::string Counted(const std::string& lines,
                    const std::vector<std::string>& test_ids) {
  const std::vector<cases::TestCase> planned = CasesOf(test_ids);
  std::vector<const cases::TestCase*> pointers;
  for (const cases::TestCase& c : planned) pointers.push_back(&c);
  return WriteFloor(lines, FloorOf(lines, planned).cases(), pointers);
}

// Kills: a suite that is not counted; a digest that is not read, or that is the
// same where a case takes the place of another; a number taken for a bound.
TEST(FloorTest, ACaseThatLeavesThePlanIsAnError) {
  const std::string lines =
      Counted("all where suite:node\nbut not where op:B\n", kPlanned);
  // The first 16 digits of the SHA-256 of their lines, as in committed files.
  EXPECT_THAT(lines, EndsWith("\nmakes 2 cases of node digest "
                              "74094368eff206bd\n"));
  const struct {
    std::vector<std::string> planned;
    bool loss;
  } rows[] = {
      {{"node/A/a", "node/B/a"}, true},
      {{"node/A/a", "node/A/c", "node/B/a"}, true},
      {{"node/A/a", "node/A/b", "node/A/c", "node/B/a"}, false},
      {{"node/B/a"}, true},
  };
  EXPECT_THAT(FloorOf(lines, CasesOf(kPlanned)).Errors(), IsEmpty());
  for (const auto& row : rows) {
    const Floor floor = FloorOf(lines, CasesOf(row.planned));
    EXPECT_THAT(floor.Errors(),
                ElementsAre(HasSubstr("passing.txt:3: the lines make")));
    EXPECT_EQ(floor.Losses().size(), row.loss ? 1U : 0U);
  }
}

// Kills: a run of another tier, which has more cases than a floor knows.
TEST(FloorTest, CasesOfOtherTiersAreNoPart) {
  std::vector<cases::TestCase> planned = CasesOf(kPlanned);
  cases::TestCase& more = planned.emplace_back(planned[0]);
  more.test_id = "node/A/of_scale";
  more.tier = cases::Tier::kScale;
  const Floor floor = FloorOf(
      Counted("all where suite:node\nbut not where op:B\n", kPlanned), planned);
  EXPECT_THAT(floor.Errors(), IsEmpty());
  EXPECT_FALSE(floor.cases().contains("node/A/of_scale"));
}

TEST(FloorTest, LinesWithoutUseOrCountAreErrors) {
  const Floor floor =
      FloorOf("all where op:A\nbut not where op:C\n", CasesOf({"node/A/a"}));
  EXPECT_THAT(
      floor.Errors(),
      ElementsAre("passing.txt:2: but not where op:C: matches no planned case",
                  HasSubstr("the cases of node are not counted, wanted a line "
                            "'makes 1 cases of node digest ")));
  EXPECT_THAT(FloorOf("node/A/a\n", {}).Errors(), IsEmpty());
  EXPECT_THAT(FloorOf("makes 2 cases of node digest 0123456789abcdef\n",
                      CasesOf({"node/A/a"}))
                  .Errors(),
              ElementsAre(HasSubstr("passing.txt:1: the lines make")));
}

// Kills: a rule lost, or written again; an exception for what is in; a comment
// lost; conditions lost; another set than was asked for.
TEST(FloorTest, WhatIsWrittenMeansTheSetOverThePlan) {
  const struct {
    std::string before;
    std::string rules;  // behind it, without the lines that count
  } rows[] = {
      {"# of ids\nnode/A/a\nnode/A/b\nnode/B/a\nnode/B/b\n",
       "# of ids\nall where suite:node\n"},
      {"node/A/a\nnode/A/b\nnode/B/a\n",
       "all where suite:node and (op:A)\nall where id:node/B/a\n"},
      {"node/B/a\n", "all where id:node/B/a\n"},
      {"all where op:B when cpu:no\nnode/B/a\n",
       "all where op:B when cpu:no\nall where id:node/B/a\n"},
      {"all where op:A\nnode/B/a\nnode/B/b when cpu:avx2\n",
       "all where op:A\nall where id:node/B/a\nnode/B/b when cpu:avx2\n"},
      {"all where op:A\n\n# not yet\nbut not where id:other/A/a\n",
       "all where op:A\n\n# not yet\nbut not where id:other/A/a\n"},
      {"all where op:B when cpu:no\nbut not where id:node/B/*\n"
       "all where op:B when cpu:avx2\n",
       "all where op:B when cpu:no\nbut not where id:node/B/*\n"
       "all where op:B when cpu:avx2\n"},
      {"node/Gone/a\nother/A/a when cpu:no\n",
       "node/Gone/a\nother/A/a when cpu:no\n"},
      {"all where op:B when not isa:new\nnode/A/a when isa:old and cpu:no\n",
       "all where op:B when not isa:new\nnode/A/a when isa:old and cpu:no\n"},
  };
  const std::vector<cases::TestCase> planned = CasesOf(kPlanned);
  for (const auto& row : rows) {
    const std::string text = Counted(row.before, kPlanned);
    EXPECT_EQ(text.substr(0, text.find("makes ")), row.rules) << row.before;
    const Floor floor = FloorOf(text, planned);
    EXPECT_EQ(floor.InForce(), FloorOf(row.before, planned).InForce());
    EXPECT_THAT(floor.Errors(), IsEmpty()) << text;
    EXPECT_EQ(Counted(text, kPlanned), text);
  }
}

}  // namespace
}  // namespace assay::policy

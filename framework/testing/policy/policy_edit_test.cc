// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/policy/policy_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/file/scratch_folder.h"

namespace assay::policy {
namespace {

using enum record::Outcome;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kDayOfEdit = "2026-06-15";

struct Seen {
  std::string id;  // node/OP/NAME
  record::Outcome raw;
  bool waived = false;
  bool declined = false;
};

using SeenCases = std::vector<Seen>;

/// A policy folder, and a run over cases of that outcome.
struct Trial {
  PolicyTexts texts;
  SeenCases seen;
  EditRules rules;
  std::string shared;  // common.txt, which expectations may include
  std::string claims;
  std::string message = "got 1,\nwant 2";

  PolicyEdit Edit() const { return EditFrom(texts); }

  PolicyEdit EditFrom(const PolicyTexts& from) const {
    const file::ScratchFolder folder;
    folder.Write("acme/expectations.txt", from.expectations);
    folder.Write("acme/passing.txt", from.passing);
    folder.Write("acme/claims.txt", claims);
    folder.Write("common.txt", shared);
    Result<Policy> policy =
        ReadPolicy(folder.path() / "acme", {.cpu = {"avx2"}, .isa = {"old"}},
                   kDayOfEdit, Reasons::kMayBeEmpty);
    EXPECT_TRUE(policy.ok()) << policy.status().ToString();
    std::vector<cases::TestCase> cases;
    for (const Seen& one : seen) {
      cases::TestCase& c = cases.emplace_back();
      c.test_id = one.id;
      c.op = one.id.substr(5, one.id.rfind('/') - 5);
      c.suite = "node";
      c.corpus = "onnx";
      c.operators = {"ai.onnx::" + c.op};
    }
    std::vector<SeenCase> results;
    for (size_t i = 0; i < seen.size(); ++i) {
      results.push_back(
          {&cases[i], seen[i].raw, seen[i].waived, seen[i].declined, message});
    }
    return EditPolicy(*policy, from, "acme", results, rules);
  }
};

// Kills: comments or `when` lines lost; a case listed twice; what was waived,
// or could not be asked, taken for passed or lost; a drop that was not asked
// for, or by a run of a part; rules counted anew although a case is lost.
TEST(PolicyEditTest, TheFloorGainsAndOnWishLoses) {
  const EditRules drop = {.remove = true, .drop = true};
  const EditRules keep = {.remove = false};
  const Seen a_a = {"node/A/a", kPass};
  const Seen a_b = {"node/A/b", kPass};
  const Seen b_b = {"node/B/b", kPass};
  const std::string kept =
      "# accepted\nnode/B/b\n\n# on some\nnode/D/d when cpu:none\n";
  const std::string all = "all where suite:node\n";
  const std::string two = "all where op:A\nmakes 2 cases of node digest 0\n";
  const struct {
    std::string before;
    SeenCases seen;
    EditRules rules;
    std::string after;  // without the lines that count
  } rows[] = {
      {"", {a_a, b_b}, {}, all},
      {kept,
       SeenCases{a_a,
                 b_b,
                 {"node/C/c", kPass},
                 {"node/D/d", kPass},
                 {"node/E/e", kPass}},
       EditRules{},
       "# accepted\n\n# on some\nall where suite:node\n"
       "but not where suite:node and (op:D)\nnode/D/d when cpu:none\n"},
      {"node/A/a", {a_a, b_b}, keep, "node/A/a\nnode/B/b\n"},
      {"node/A/a\n", {a_a, b_b}, keep, "node/A/a\nnode/B/b\n"},
      {"", {a_a}, keep, "node/A/a\n"},
      {"all where op:A\n", SeenCases{a_a, b_b}, EditRules{},
       "all where op:A\nall where id:node/B/b\n"},
      {"all where op:A\n", SeenCases{{"node/A/a", kFail}, a_b}, drop,
       "all where op:A\nbut not where id:node/A/a\n"},
      {two, {a_a}, {}, two},
      {two, {a_a}, drop, "all where op:A\n"},
      {two, {a_a, a_b, {"node/A/c", kPass}}, {}, "all where op:A\n"},
      {"", {{"node/A/a", kPass, true}}, {}, ""},
      {"node/A/a\n", {{"node/A/a", kUnsupported}}, {}, all},
      {"node/A/a\n# b\nnode/B/b\n", SeenCases{{"node/A/a", kUnsupported}, b_b},
       drop, "# b\nall where suite:node and (op:B)\n"},
      {"node/A/a\n", {{"node/A/a", kUnavailable}}, drop, all},
      {"node/A/a\n", {{"node/A/a", kMissing}}, drop, all},
      {"node/A/a\nnode/B/b\n", {b_b}, drop, all},
      {"node/D/d when cpu:none\n", SeenCases{{"node/D/d", kUnsupported}}, drop,
       "node/D/d when cpu:none\n"},
  };
  for (const auto& row : rows) {
    const Trial trial = {{"", row.before}, row.seen, row.rules, "", ""};
    const PolicyEdit edit = trial.Edit();
    const std::string& text = edit.texts.passing;
    EXPECT_EQ(text == row.before ? text : text.substr(0, text.find("makes ")),
              row.after);
    EXPECT_EQ(edit.changes.empty(), text == row.before) << row.before;
    EXPECT_EQ(trial.EditFrom(edit.texts).texts, edit.texts) << row.before;
  }
}

const std::string kFails = "expect fail where op:A because \"x\"\n";

// Kills: a line removed while one of its cases still needs it, in a run of a
// part, or because its cases could not be asked, or where it is about more
// instruction sets than the run had; a line kept that none needs;
// flakiness taken for gone after one pass; a waiver taken for a plain pass.
TEST(PolicyEditTest, LinesGoWhenNoCaseNeedsThem) {
  const std::string tolerate =
      "tolerate rtol=1 atol=1 where op:A because \"x\"\n";
  const std::string crash = "expect crash where op:A because \"y\"\n";
  const std::string flaky = "expect flaky where op:A because \"y\"\n";
  const std::string other =
      "expect fail where backend:acme+x=1 because \"y\"\n";
  const std::string old =
      "expect fail where id:node/A/a or id:node/A/b because \"y\" when "
      "not isa:new\n";
  const std::string declined = "expect unsupported where op:A because \"z\"\n";
  const std::string some =
      "expect fail at some seeds where id:node/A/a or id:node/A/b because "
      "\"y\"\n";
  const Seen pass = {"node/A/a", kPass};
  const Seen fails = {"node/A/b", kFail};
  const struct {
    std::string before;
    SeenCases seen;
    std::string after;
    std::string by_hand;  // a part of it; empty: nothing is left to a person
    bool remove = true;
  } rows[] = {
      {"# a\n" + kFails + "\n# b\n", {pass}, "# a\n\n# b\n", ""},
      {kFails, {pass}, kFails, "", /*remove=*/false},
      {kFails, {fails}, kFails, ""},
      {kFails, {pass, fails}, kFails, "narrow 'op:A', which 1 of its 2 cases"},
      {kFails, {{"node/B/b", kPass}}, "", ""},
      {kFails, {{"node/A/a", kUnavailable}}, kFails, ""},
      {kFails, {{"node/A/a", kUnsupported}}, "", ""},
      {declined, {{"node/A/a", kUnsupported}}, declined, ""},
      {flaky, {pass}, flaky, ""},
      {some, {pass, {"node/A/b", kPass}}, some, ""},
      {some, {pass, fails}, some, ""},
      {some, {{"node/A/a", kUnsupported}}, "", ""},
      {tolerate, {pass}, "", ""},
      {tolerate, {{"node/A/a", kPass, true}}, tolerate, ""},
      {kFails + crash, {{"node/A/a", kCrash}}, crash, ""},
      {kFails, SeenCases{{"node/A/a", kCrash}},
       "# got 1, want 2\nexpect crash where id:node/A/a because \"\"\n", ""},
      {"# kept\n" + kFails + crash, {pass}, "# kept\n", ""},
      {other, {pass}, other, "shared with others"},
      {old, {pass}, old, "shared with others"},
      {old, {pass, fails}, old, "narrow 'id:node/A/a or id:node/A/b'"},
      {"expect fail where op:A because \"x\" when cpu:none\n", SeenCases{pass},
       "expect fail where op:A because \"x\" when cpu:none\n", ""},
      {"expect fail where op:A because \"x\" until 2026-01-01\n",
       SeenCases{fails},
       "expect fail where op:A because \"x\" until 2026-01-01\n",
       "was good until 2026-01-01: give it a later date or mend node/A/b"},
  };
  for (const auto& row : rows) {
    const Trial trial = {{row.before, ""}, row.seen, {row.remove}, "", ""};
    const PolicyEdit edit = trial.Edit();
    EXPECT_EQ(edit.texts.expectations, row.after) << row.before;
    if (row.by_hand.empty()) {
      EXPECT_THAT(edit.by_hand, IsEmpty()) << row.before;
    } else {
      ASSERT_EQ(edit.by_hand.size(), 1U) << row.before;
      EXPECT_THAT(edit.by_hand[0], HasSubstr(row.by_hand));
    }
  }
}

// Kills: an id that still fails taken out; the rest of the line changed.
TEST(PolicyEditTest, ALineOfIdsLosesThoseThatDoWithout) {
  const Trial trial = {
      {"  expect fail  where id:node/A/a or id:node/A/b or id:node/A/gone "
       "because \"id:node/A/a, for now\" until 2027-01-01\n",
       ""},
      {{"node/A/a", kPass}, {"node/A/b", kFail}},
      {},
      "",
      ""};
  const PolicyEdit edit = trial.Edit();
  EXPECT_EQ(edit.texts.expectations,
            "  expect fail  where id:node/A/b because \"id:node/A/a, for "
            "now\" until 2027-01-01\n");
  EXPECT_THAT(edit.changes, ElementsAre("expectations.txt:1: - id:node/A/a",
                                        "expectations.txt:1: - id:node/A/gone",
                                        "passing.txt: + node/A/a"));
  EXPECT_EQ(trial.EditFrom(edit.texts).texts, edit.texts);
}

// Kills: a reason made up; operators or outcomes thrown together; a line for
// what is expected already, is declined inside the claims, or is past its date;
// a second run of the same that adds again.
TEST(PolicyEditTest, WhatNewlyFailsGetsALineThatWaitsForItsReason) {
  Trial trial;
  trial.texts.expectations = "# known\n" + kFails.substr(0, kFails.size() - 1);
  trial.seen = {
      {"node/A/a", kFail},        {"node/A/b", kCrash},
      {"node/B/c", kFail},        {"node/B/d", kFail},
      {"node/B/e", kError},       {"node/C/f", kFail, false, /*declined=*/true},
      {"node/C/g", kUnsupported}, {"node/C/h", kMissing}};
  const PolicyEdit edit = trial.Edit();
  EXPECT_EQ(edit.texts.expectations,
            "# known\n" + kFails +
                "# got 1, want 2\n"
                "expect crash where id:node/A/b because \"\"\n"
                "# got 1, want 2\n"
                "expect fail where id:node/B/c or id:node/B/d because \"\"\n"
                "# got 1, want 2\n"
                "expect error where id:node/B/e because \"\"\n");
  ASSERT_EQ(edit.by_hand.size(), 1U);
  EXPECT_THAT(edit.by_hand[0], HasSubstr("declined inside the claims are "
                                         "node/C/f"));
  EXPECT_THAT(
      edit.changes,
      ElementsAre(
          "expectations.txt: + expect crash where id:node/A/b",
          "expectations.txt: + expect fail where id:node/B/c or id:node/B/d",
          "expectations.txt: + expect error where id:node/B/e"));
  const PolicyEdit again = trial.EditFrom(edit.texts);
  EXPECT_EQ(again.texts, edit.texts);
  EXPECT_THAT(again.changes, IsEmpty());
}

// Kills: a comment of several lines, or one that is as long as a backend likes.
TEST(PolicyEditTest, AMessageIsAShortCommentOfOneLine) {
  const struct {
    std::string message, comment;
  } rows[] = {
      {"", ""},
      {"~ a !", "~ a !"},
      {"a\tb\x7F\xC3\xA4\n", "a b    "},
      {std::string(120, 'x'), std::string(120, 'x')},
      {std::string(121, 'x'), std::string(120, 'x')},
  };
  for (const auto& row : rows) {
    Trial trial;
    trial.seen = {{"node/A/a", kFail}};
    trial.message = row.message;
    EXPECT_EQ(
        trial.Edit().texts.expectations,
        "# " + row.comment + "\nexpect fail where id:node/A/a because \"\"\n");
  }
}

// Kills: a case that a line expects to fail taken into the floor; one kept out
// of it by a tolerance that it does not need.
TEST(PolicyEditTest, TheFloorTakesWhatPassesAsEveryCaseShould) {
  const struct {
    std::string expectations, floor;
  } rows[] = {
      {"", "node/A/a\n"},
      {kFails, ""},
      {"expect fail at some seeds where op:A because \"x\"\n", ""},
      {"expect flaky where op:A because \"x\"\n", "node/A/a\n"},
      {"tolerate rtol=1 atol=1 where op:A because \"x\"\n", "node/A/a\n"},
  };
  for (const auto& row : rows) {
    Trial trial;
    trial.texts.expectations = row.expectations;
    trial.seen = {{"node/A/a", kPass}};
    trial.rules.remove = false;
    EXPECT_EQ(trial.Edit().texts.passing, row.floor) << row.expectations;
  }
}

// Kills: a loss that nobody hears of, or whose list has no end.
TEST(PolicyEditTest, WhatTheFloorWouldLoseIsNamed) {
  const auto by_hand = [](const std::string& floor) {
    Trial trial;
    trial.texts.passing = floor;
    for (const char* id : {"node/A/a", "node/A/b", "node/A/c", "node/A/d",
                           "node/A/e", "node/A/f", "node/A/g"}) {
      trial.seen.push_back({id, kUnsupported});
    }
    return trial.Edit().by_hand;
  };
  EXPECT_THAT(by_hand("node/A/b\n"),
              ElementsAre("passing.txt: 1 cases are lost, --drop takes them "
                          "out: node/A/b"));
  EXPECT_THAT(by_hand("all where op:A\nbut not where id:node/A/a\n"),
              ElementsAre(HasSubstr("6 cases are lost, --drop takes them out: "
                                    "node/A/b, node/A/c, node/A/d, node/A/e, "
                                    "node/A/f and 1 more")));
  EXPECT_THAT(
      by_hand("all where id:node/A/a\nmakes 2 cases of node digest 0\n"),
      ElementsAre(HasSubstr("passing.txt:2: the lines make 1 planned "
                            "cases of node")));
}

TEST(PolicyEditTest, LinesOfIncludedFilesStayAndAreNamed) {
  Trial trial;
  trial.texts.expectations = "include ../common.txt\n";
  trial.shared = "# shared\n" + kFails;
  trial.seen = {{"node/A/a", kPass}};
  trial.texts.passing = "";
  const PolicyEdit edit = trial.Edit();
  EXPECT_EQ(edit.texts.expectations, trial.texts.expectations);
  ASSERT_EQ(edit.by_hand.size(), 1U);
  EXPECT_THAT(edit.by_hand[0], HasSubstr("../common.txt:2 is of no use here"));
}

}  // namespace
}  // namespace assay::policy

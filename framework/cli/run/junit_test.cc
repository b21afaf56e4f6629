// SPDX-License-Identifier: Apache-2.0
//
// JUnit, held against the rules of its readers, and what it tells of a case.

#include "framework/cli/run/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "framework/cli/run/junit_rules_fixture.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::run {
namespace {

using testing::HasSubstr;
using testing::Not;

record::Record RecordOf(record::Outcome outcome) {
  record::Record record;
  record.result.test_id = "node/Abs/test_abs";
  record.result.backend = "acme";
  record.result.suite = "node";
  record.result.op = "Abs";
  record.result.outcome = outcome;
  record.result.message = "because";
  return record;
}

/// A run of acme with these verdicts.
struct JUnitTrial {
  record::RunRow run = {.started_utc = "2026-11-30T04:05:06Z"};
  plan::Plan plan;
  verdict::Verdicts verdicts;

  explicit JUnitTrial(std::vector<record::Record> final) {
    plan::BackendUse& acme = plan.backends.emplace_back();
    acme.instance = "acme";
    acme.module = "lib/assay/acme.so";
    verdicts.final = std::move(final);
  }

  /// As a run lists it.
  void AddUnexpected(const std::string& reason,
                     const std::string& code = "value") {
    const record::ResultRow& row = verdicts.final.at(0).result;
    verdicts.unexpected.push_back({row.backend, row.test_id,
                                   std::string(ToString(row.outcome)), reason,
                                   code, "assay run x"});
  }

  std::map<std::string, std::string> Documents() const {
    std::map<std::string, std::string> documents;
    const Status status =
        ForEachJUnit(run, plan, verdicts,
                     [&](const std::string& name, const std::string& document) {
                       EXPECT_EQ(JUnitFaults(document), "") << document;
                       documents[name] = document;
                       return OkStatus();
                     });
    EXPECT_TRUE(status.ok()) << status.ToString();
    return documents;
  }
  std::string Node() const { return Documents().at("node.acme.xml"); }
  std::string Whole() const { return Documents().at("run.acme.xml"); }
};

std::string DocumentOf(const std::string& testcase, const char* more = "") {
  return StrCat(
      "<testsuites name='a' tests='1' failures='0' errors='0'><testsuite "
      "name='a' tests='1' failures='0' errors='0' skipped='0' hostname='h' ",
      *more == 0 ? "timestamp='2026-11-30T04:05:06' file='f'" : more, ">",
      testcase, "</testsuite></testsuites>");
}

// Kills: a rule that nothing can break.
TEST(JUnitRulesTest, EachIsBrokenByItsExample) {
  const std::string good = "<testcase name='a' classname='b' time='0.000'/>";
  EXPECT_EQ(JUnitFaults(DocumentOf(good)), "");
  for (const ReaderRule& rule : kReaderRules) {
    const std::string document =
        rule.example != nullptr
            ? DocumentOf(rule.example)
            : DocumentOf(good, "timestamp='2026-11-30T04:05:06Z' file='f'");
    EXPECT_THAT(JUnitFaults(document), HasSubstr(rule.rule));
  }
  const struct {
    const char* testcase;
    const char* says;
  } rows[] = {
      {"<testcase classname='b' time='0.000'/>", "testcase wants name"},
      {"<testcase name='a' classname='b' time='0.000' file='c'/>",
       "testcase has no attribute file"},
      {"<testcase name='a' classname='b' time='0.000'><properties/></testcase>",
       "testcase holds no properties"},
      {"<testcase name='a' classname='b' time='0.000'><system-out><b/>"
       "</system-out></testcase>",
       "system-out holds no b"},
      {"<testcase name='a' classname='b' time='0.000'/>"
       "<testcase name='a' classname='b' time='0.000'/>",
       "two cases have one class and name"},
      {"<testcase name='&#1;' classname='b' time='0.000'/>",
       "a character is none of XML 1.0"},
      {"<testcase", "Error"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(JUnitFaults(DocumentOf(row.testcase)), HasSubstr(row.says));
  }
}

// Kills: a reason code that GitLab would convert a text by.
TEST(JUnitRulesTest, NoReasonCodeIsAWordOfRuby) {
  JUnitTrial trial({RecordOf(record::Outcome::kFail)});
  for (const record::ReasonMeaning& reason : record::ReasonMeanings()) {
    trial.verdicts.unexpected.clear();
    trial.AddUnexpected("because", reason.code);
    EXPECT_THAT(trial.Node(), HasSubstr(StrCat("type=\"", reason.code, "\"")));
  }
}

// Kills: an outcome that those who read JUnit take for a pass; a rule of red of
// JUnit's own, by which a lost floor is green or an expected result red.
TEST(JUnitTest, RedIsTheListOfTheRun) {
  const struct {
    record::Outcome outcome;
    bool is_listed;
    const char* element;  // null: passed
  } rows[] = {
      {record::Outcome::kPass, false, nullptr},
      {record::Outcome::kWaived, false, nullptr},
      {record::Outcome::kWaived, true, "failure"},
      {record::Outcome::kUnsupported, false, "skipped"},
      {record::Outcome::kUnsupported, true, "failure"},
      {record::Outcome::kUnavailable, false, "skipped"},
      {record::Outcome::kXfail, false, "skipped"},
      {record::Outcome::kFail, true, "failure"},
      {record::Outcome::kSuspect, true, "failure"},
      {record::Outcome::kXpass, true, "failure"},
      {record::Outcome::kFlaky, true, "failure"},
      {record::Outcome::kError, true, "error"},
      {record::Outcome::kCrash, true, "error"},
      {record::Outcome::kTimeout, true, "error"},
      {record::Outcome::kMissing, true, "error"},
  };
  for (const auto& row : rows) {
    JUnitTrial trial({RecordOf(row.outcome)});
    if (row.is_listed) trial.AddUnexpected("because");
    const std::string xml = trial.Node();
    const std::string said = StrCat(ToString(row.outcome), ": because");
    for (const std::string element : {"failure", "error", "skipped"}) {
      const bool wanted = row.element != nullptr && element == row.element;
      const std::string open = StrCat("<", element, " message=\"", said, "\"");
      EXPECT_EQ(xml.find(open) != std::string::npos, wanted) << xml;
    }
    EXPECT_THAT(trial.Whole(), HasSubstr("tests=\"1\" failures=\"0\""));
  }
}

// Kills: a page of a build server, which shows text alone, that says how to
// repeat a failure and not what it is, or the reverse.
TEST(JUnitTest, TheTextOfAFailureHasAllThatIsKnown) {
  record::Record failed = RecordOf(record::Outcome::kFail);
  for (const int64_t out_of_limit : {0, 2}) {
    record::AccuracyRow row;
    row.output_name = out_of_limit > 0 ? "y" : "x";
    row.out_of_limit = out_of_limit;
    row.worst_index = 5;
    row.worst_got = "1.5";
    row.worst_want = "1.25";
    row.limit = 0.125;
    failed.Add(row);
  }
  JUnitTrial trial({failed});
  trial.AddUnexpected("2 of 24 out of limit");
  trial.AddUnexpected("lost from passing.txt");
  EXPECT_THAT(trial.Node(),
              HasSubstr(">fail: 2 of 24 out of limit\nfail: lost from "
                        "passing.txt\nworst: y[5] is 1.5, wanted 1.25 within "
                        "0.125\nrepeat: assay run x</failure>"));
}

// Kills: a time that is the judge's; facts of a case where the schema has none.
TEST(JUnitTest, ACaseHasTheBackendsTimeAndItsFacts) {
  record::Record passed = RecordOf(record::Outcome::kPass);
  passed.result.load_us = 1200;
  passed.result.run_us = 400;
  passed.result.judge_us = 5000000;
  passed.result.vacuous = true;
  passed.result.headroom = 0.5;
  passed.result.repro = "assay run x";
  const std::string xml = JUnitTrial({passed}).Node();
  EXPECT_THAT(xml, HasSubstr("classname=\"acme.node.Abs\" time=\"0.002\""));
  EXPECT_THAT(xml, HasSubstr("<system-out>outcome: pass\nvacuous: 1\nheadroom: "
                             "0.5\nrepro: assay run x\n</system-out>"));
}

// Kills: a run that no page can tell from another; a suite without its sums.
TEST(JUnitTest, ASuiteSaysWhichRunItIsOf) {
  JUnitTrial trial({RecordOf(record::Outcome::kPass)});
  trial.run.run_id = "r1";
  trial.run.seed = 7;
  trial.verdicts.backends.emplace_back().backend = "acme";
  trial.verdicts.backends.back().version = "3.1";
  trial.verdicts.conformance.push_back(
      {.backend = "acme", .verdict = "partial", .reason = "of a filter"});
  for (const auto& [name, xml] : trial.Documents()) {
    EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-11-30T04:05:06\"")) << name;
    EXPECT_THAT(xml, HasSubstr("file=\"lib/assay/acme.so\"")) << name;
    for (const char* fact : {"run_id\" value=\"r1\"", "seed\" value=\"7\"",
                             "version\" value=\"3.1\"",
                             "conformance\" value=\"partial, of a filter\""}) {
      EXPECT_THAT(xml, HasSubstr(StrCat("<property name=\"", fact))) << name;
    }
  }
}

// Kills: a library that is missing, a line or a case that left the plan, which
// no case of the run can tell of.
TEST(JUnitTest, TheBackendAsAWholeIsACase) {
  JUnitTrial trial({RecordOf(record::Outcome::kPass)});
  trial.verdicts.unexpected = {
      {"acme", "", "policy", "expectations.txt:7 \x01", "policy"},
      {"acme", "node/Abs/gone", "missing", "in passing.txt", "floor"},
      {"other", "", "policy", "of another", "policy"}};
  EXPECT_THAT(trial.Node(), HasSubstr("failures=\"0\" errors=\"0\""));
  EXPECT_THAT(
      trial.Whole(),
      HasSubstr("type=\"policy\">policy: expectations.txt:7 ?\nmissing: "
                "node/Abs/gone: in passing.txt</failure>"));
  EXPECT_THAT(trial.Whole(), Not(HasSubstr("of another")));
  EXPECT_THAT(
      trial.Whole(),
      HasSubstr("<testsuites name=\"run.acme\" tests=\"1\" failures=\"1\""));
}

TEST(JUnitTest, OnlyTheCasesOfTheSuiteAndBackendAreThere) {
  record::Record other = RecordOf(record::Outcome::kFail);
  other.result.backend = "other";
  record::Record model = RecordOf(record::Outcome::kFail);
  model.result.suite = "model";
  JUnitTrial trial({other, RecordOf(record::Outcome::kPass), model});
  trial.plan.backends.emplace_back().instance = "other";
  EXPECT_THAT(trial.Node(), HasSubstr("tests=\"1\" failures=\"0\""));
  EXPECT_EQ(trial.Documents().size(), 5U);
}

// Kills: attempts that are lost; a case that passed at times told like one that
// never does.
TEST(JUnitTest, EachAttemptThatDidNotPassIsThere) {
  using enum record::Outcome;
  const struct {
    std::vector<record::Outcome> attempts;
    std::vector<std::string> elements;
  } rows[] = {
      {{kFail}, {}},
      {{kFail, kFail, kCrash}, {"rerunFailure 2", "rerunError 3"}},
      {{kFail, kPass, kTimeout}, {"flakyFailure 1", "flakyError 3"}},
  };
  for (const auto& row : rows) {
    JUnitTrial trial({RecordOf(kFail)});
    for (const record::Outcome outcome : row.attempts) {
      record::ResultRow attempt = RecordOf(outcome).result;
      attempt.attempt = std::ssize(trial.verdicts.attempts) + 1;
      trial.verdicts.attempts.push_back(attempt);
    }
    pugi::xml_document document;
    document.load_string(trial.Node().c_str());
    std::vector<std::string> elements;
    for (const auto& found :
         document.select_nodes("//testcase/*[stackTrace]")) {
      const std::string_view text = found.node().child_value("stackTrace");
      elements.push_back(
          StrCat(found.node().name(), " ",
                 text.substr(std::string("attempt ").size(), 1)));
    }
    EXPECT_EQ(elements, row.elements);
  }
}

}  // namespace
}  // namespace assay::run

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/repeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/verdict/verdict.h"

namespace assay::verdict {
namespace {

using testing::EndsWith;
using testing::StartsWith;

plan::Plan PlanOf(const std::vector<std::pair<const char*, const char*>>& ids) {
  plan::Plan plan;
  plan::BackendUse& acme = plan.backends.emplace_back();
  acme.instance = acme.spec = "acme";
  for (const char* name : {"onnx", "mine"}) {
    plan::CorpusUse& corpus = plan.corpora.emplace_back();
    corpus.name = name;
    corpus.standard = corpus.name == "onnx";
    corpus.directory = StrCat("/corpora/", name);
  }
  for (const auto& [id, corpus] : ids) {
    record::PlanRow& row = plan.rows.emplace_back();
    row.test_id = id;
    row.corpus = corpus;
    row.backend = "acme";
  }
  return plan;
}

// Kills: a command that runs a case alone which fails behind others only; one
// that has them in another order, or leaves their corpus out; one attempt where
// the fail comes at times.
TEST(RepeatOfTest, TheCommandHasWhatTheOutcomeNeeds) {
  using enum record::Outcome;
  struct Attempt {
    record::Outcome outcome;
    const char* after = "";
  };
  const struct {
    const char* case_of;  // its corpus
    record::Outcome first;
    std::vector<Attempt> repeats;
    const char* ends;
  } rows[] = {
      {"onnx", kFail, {}, "--filter 'id:b/B'"},
      {"onnx", kFail, {{kFail}, {kFail}}, "--filter 'id:b/B'"},
      {"onnx", kFail, {{kPass}, {kPass}, {kPass}}, "'id:b/B' --attempts 25"},
      {"onnx", kPass, {{kFail}}, "'id:b/B' --attempts 10"},
      {"onnx", kPass, {{kPass}, {kFail}}, "'id:b/B' --attempts 18"},
      {"onnx", kPass, {{kPass}, {kPass}}, "--filter 'id:b/B'"},
      {"onnx",
       kFail,
       {{kPass}, {kFail, "a/A"}},
       "--filter 'id:a/A or id:b/B' --jobs 1"},
      {"onnx", kError, {{kFail}, {kError}}, "--filter 'id:b/B'"},
      {"onnx", kError, {{kFail}, {kFail, "a/A"}}, "--filter 'id:b/B'"},
      {"onnx", kCrash, {{kFail}, {kCrash, "a/A"}}, "--filter 'id:b/B'"},
      {"onnx",
       kError,
       {{kFail}, {kError, "a/A"}},
       "--filter 'id:a/A or id:b/B' --jobs 1"},
      {"onnx",
       kFail,
       {{kPass}, {kCrash, "a/A a/B"}},
       "--filter 'id:a/A or id:a/B or id:b/B' --jobs 1"},
      {"onnx",
       kFail,
       {{kPass}, {kFail, "c/C"}},
       "--filter 'id:c/C or id:b/B' --shuffle --jobs 1"},
      {"onnx",
       kFail,
       {{kPass}, {kFail, "a/mine"}},
       "'id:a/mine or id:b/B' --corpus /corpora/mine --corpus onnx --jobs 1"},
      {"mine",
       kFail,
       {{kPass}, {kFail, "a/A"}},
       "'id:a/A or id:b/B' --corpus /corpora/mine --corpus onnx --jobs 1"},
      {"mine",
       kFail,
       {{kPass}, {kFail, "a/mine"}},
       "'id:a/mine or id:b/B' --corpus /corpora/mine --jobs 1"},
  };
  for (const auto& row : rows) {
    const plan::Plan plan = PlanOf({{"a/A", "onnx"},
                                    {"a/B", "onnx"},
                                    {"a/mine", "mine"},
                                    {"b/B", row.case_of},
                                    {"c/C", "onnx"}});
    std::vector<record::ResultRow> repeats;
    for (const Attempt& attempt : row.repeats) {
      repeats.emplace_back().outcome = attempt.outcome;
      repeats.back().after = attempt.after;
    }
    const std::string command =
        RepeatOf(plan, plan.rows[3], row.first, repeats, &ReproOf);
    EXPECT_THAT(command, StartsWith("assay run --backend acme --filter "));
    EXPECT_THAT(command, EndsWith(row.ends));
  }
}

TEST(RepeatOfTest, ManyCasesAreToldByTheirEnds) {
  EXPECT_EQ(AfterText(""), "");
  EXPECT_EQ(AfterText("a/A"), "a/A");
  EXPECT_EQ(AfterText("a/A a/B a/C"), "3 cases, from a/A to a/C");
  EXPECT_EQ(AfterText("3 cases, from a/A to a/C"), "3 cases, from a/A to a/C");
}

}  // namespace
}  // namespace assay::verdict

// SPDX-License-Identifier: Apache-2.0
//
// All ways in which a run is red, and some in which it is not, each as its
// readers see it: exit code, JUnit, summary.json and summary.md, the page, and
// the entries of CTest, which are a part's exit code and the merge's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "framework/cli/run/finish.h"
#include "framework/cli/run/readers_fixture.h"
#include "framework/cli/select/environment.h"
#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;
using enum record::Outcome;
using testing::HasSubstr;

/// A whole run of acme over two cases: node/Abs/a is claimed and passes,
/// node/Abs/b is what the row is about.
struct RedTrial {
  plan::Plan plan;
  verdict::RawRecords raw;
  bool allow_unavailable = false;

  RedTrial() {
    plan::BackendUse& acme = plan.backends.emplace_back();
    acme.instance = acme.spec = acme.name = "acme";
    acme.claims = {"claim forward where op:Abs"};
    for (const std::string_view name : cases::kDefaultCorpora) {
      plan::CorpusUse& corpus = plan.corpora.emplace_back();
      corpus.name = name;
      corpus.standard = true;
    }
    for (const char* test_id : {"node/Abs/a", "node/Abs/b"}) {
      record::PlanRow& row = plan.rows.emplace_back();
      row.test_id = test_id;
      row.backend = "acme";
      row.suite = "node";
      row.op = "Abs";
      row.domain = "ai.onnx";
      row.corpus = "onnx";
      row.drawn = row.claimed = true;
      Say(test_id, kPass);
    }
    plan.rows[1].claimed = false;
  }

  plan::BackendUse& acme() { return plan.backends[0]; }
  record::PlanRow& b() { return plan.rows[1]; }

  /// A worker's word on an attempt at a case.
  void Say(const std::string& test_id, record::Outcome outcome,
           int64_t attempt = 1, const std::string& code = "") {
    record::Record record;
    record.result.test_id = test_id;
    record.result.backend = "acme";
    record.result.suite = "node";
    record.result.op = "Abs";
    record.result.outcome = outcome;
    record.result.attempt = attempt;
    record.result.reason_code = code;
    record.result.message = StrCat("said ", outcome);
    if (attempt == 1) {
      raw.records[{"acme", test_id}] = record;
    } else {
      raw.repeats[{"acme", test_id}].push_back(record.result);
    }
  }
  void SayB(record::Outcome outcome, const std::string& code = "") {
    Say("node/Abs/b", outcome, 1, code);
  }
  void Expect(record::Outcome outcome) {
    b().expected = outcome;
    b().expected_source = "expectations.txt:1";
    b().because = "known";
  }
  void LoseTheLibrary() {
    for (const record::PlanRow& row : plan.rows) {
      Say(row.test_id, kUnavailable);
    }
    raw.backends["acme"].unavailable_reason = "libacme.so.3: no such file";
  }
};

/// One way, and what its readers see of it.
struct Way {
  const char* name;
  std::function<void(RedTrial&)> make;
  const char* code = "";  // of the unexpected; empty: the run is not red
  int entry = 0;          // exit code of the part that has the cases
  int exit = 0;           // that of the whole, and of its merge
  const char* headline = "As expected. 1 of 1 conformant.";
};

Way Red(const char* name, const char* code,
        std::function<void(RedTrial&)> make) {
  return {name, std::move(make), code, 1, 1, "Not as expected: 1 unexpected."};
}

/// One that only the whole of a plan tells.
Way RedAtMerge(const char* name, const char* code,
               std::function<void(RedTrial&)> make) {
  Way way = Red(name, code, std::move(make));
  way.entry = 0;
  return way;
}

std::vector<Way> ResultsThatAreRed() {
  return {
      Red("a wrong value", "value",
          [](RedTrial& run) { run.SayB(kFail, "value"); }),
      Red("a suspect pass", "suspect",
          [](RedTrial& run) { run.SayB(kSuspect); }),
      Red("an exception", "error", [](RedTrial& run) { run.SayB(kError); }),
      Red("a crash", "signal",
          [](RedTrial& run) { run.SayB(kCrash, "signal"); }),
      Red("a timeout", "limit",
          [](RedTrial& run) { run.SayB(kTimeout, "limit"); }),
      Red("a case that passes at times", "value",
          [](RedTrial& run) {
            run.SayB(kFail, "value");
            run.Say("node/Abs/b", kPass, 2);
          }),
      Red("a pass where a fail is expected", "expectation",
          [](RedTrial& run) { run.Expect(kFail); }),
      Red("another outcome than the expected one", "signal",
          [](RedTrial& run) {
            run.Expect(kFail);
            run.SayB(kCrash, "signal");
          }),
      Red("a line whose case is declined now", "expectation",
          [](RedTrial& run) {
            run.Expect(kFail);
            run.SayB(kUnsupported);
          }),
      Red("declined inside the claims", "dtype",
          [](RedTrial& run) {
            run.b().claimed = true;
            run.SayB(kUnsupported, "dtype");
          }),
      Red("a part is missing", "accounting",
          [](RedTrial& run) {
            run.raw.records.erase({"acme", "node/Abs/b"});
          }),
      Red("a lost floor", "floor",
          [](RedTrial& run) {
            run.acme().floor = {"node/Abs/b"};
            run.SayB(kUnsupported, "dtype");
          }),
  };
}

std::vector<Way> BackendsThatAreRed() {
  const auto with_line = [](const char* line) {
    return [line](RedTrial& run) { run.acme().policy_errors = {line}; };
  };
  return {
      RedAtMerge("a floor whose case left the plan", "floor",
                 [](RedTrial& run) { run.acme().floor = {"node/Abs/gone"}; }),
      RedAtMerge("a line past its date", "policy",
                 with_line("expectations.txt:1: was good until 2020-01-01")),
      RedAtMerge("a line of no use", "policy",
                 with_line("expectations.txt:1: matches no planned case")),
      RedAtMerge("claims that were emptied", "policy",
                 with_line("claims.txt: claims nothing")),
      RedAtMerge("a claim that no case tests", "policy",
                 with_line("claims.txt:1: no planned case tests it")),
      RedAtMerge("a backend that declines everything", "accounting",
                 [](RedTrial& run) {
                   run.plan.rows[0].claimed = false;
                   run.Say("node/Abs/a", kUnsupported);
                   run.SayB(kUnsupported);
                 }),
      RedAtMerge("a folder of a person's own that is no case", "bad_case",
                 [](RedTrial& run) {
                   run.plan.bad_cases = {"mine/x: model.onnx: is malformed"};
                 }),
      Red("a missing library", "device",
          [](RedTrial& run) { run.LoseTheLibrary(); }),
      Red("a device that one case lacks", "device",
          [](RedTrial& run) { run.SayB(kUnavailable, "device"); }),
      Red("an end outside of any case", "exit",
          [](RedTrial& run) {
            record::ResultRow& loss = run.raw.losses.emplace_back();
            loss.backend = "acme";
            loss.outcome = kCrash;
            loss.reason_code = "exit";
          }),
      Red("a crash behind another case", "signal",
          [](RedTrial& run) {
            run.SayB(kCrash, "signal");
            run.Say("node/Abs/b", kUnsupported, 2);
          }),
      Red("other instruction sets than the plan's", "policy",
          [](RedTrial& run) {
            run.acme().needs_isa = true;
            run.raw.isa["acme"] = {"sse41"};
          }),
  };
}

std::vector<Way> NotRed() {
  return {
      {"all pass", [](RedTrial&) {}},
      {"a fail that is expected",
       [](RedTrial& run) {
         run.Expect(kFail);
         run.SayB(kFail);
       }},
      {"declined outside the claims",
       [](RedTrial& run) { run.SayB(kUnsupported); }},
      {.name = "a fail that is expected inside the claims",
       .make =
           [](RedTrial& run) {
             run.b().claimed = true;
             run.Expect(kFail);
             run.SayB(kFail);
           },
       .headline = "As expected. 0 of 1 conformant: acme is not (1 of 2 cases"},
      {.name = "claims of nothing",
       .make =
           [](RedTrial& run) {
             run.acme().claims.clear();
             run.plan.rows[0].claimed = false;
           },
       .headline = "As expected. 0 of 1 conformant: acme is not (it claims "},
      {.name = "a part of the cases",
       .make =
           [](RedTrial& run) {
             run.plan.selection.filter = "op:Abs";
             run.acme().policy_errors = {"expectations.txt:1: matches none"};
           },
       .headline = "As expected. Conformance is not judged: a run with a fil"},
      {.name = "a missing library that may be",
       .make =
           [](RedTrial& run) {
             run.LoseTheLibrary();
             run.allow_unavailable = true;
           },
       .entry = 77,
       .exit = 77,
       .headline = "Nothing judged: unavailable. 0 of 1 conformant: acme is"},
  };
}

/// Finishes the run; what it prints is `said`.
Result<int> Finish(const RedTrial& trial, const fs::path& folder,
                   std::string* said) {
  testing::internal::CaptureStdout();
  const auto env = select::EnvironmentRows();
  Result<int> code = FinishRun(trial.plan, trial.raw,
                               select::BeginRun(trial.plan, env, {}), env,
                               {.folder = folder,
                                .allow_unavailable = trial.allow_unavailable,
                                .report = false});
  *said = testing::internal::GetCapturedStdout();
  return code;
}

int EntryOf(const RedTrial& trial) {
  std::vector<size_t> rows(trial.plan.rows.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  return verdict::Assess(
             trial.plan, rows, trial.raw,
             {.whole = false, .allow_unavailable = trial.allow_unavailable})
      .ExitCode();
}

/// Asserts all readers of one run but its page, of which it says what it must.
std::string ExpectSeen(const Way& way, const fs::path& folder) {
  const bool is_red = *way.code != 0;
  RedTrial trial;
  way.make(trial);
  std::string said;
  const Result<int> code = Finish(trial, folder, &said);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return {};
  EXPECT_EQ(*code, way.exit);
  EXPECT_EQ(EntryOf(trial), way.entry);
  EXPECT_THAT(said, HasSubstr(way.headline));
  const Seen seen = SeenIn(folder);
  EXPECT_EQ(seen.red_in_junit, is_red ? 1 : 0);
  EXPECT_THAT(seen.markdown,
              HasSubstr(is_red ? "\n## Unexpected: 1" : "Nothing unexpected."));
  EXPECT_EQ(seen.summary.at("exit_code"), way.exit);
  EXPECT_EQ(seen.summary.at("as_expected"), !is_red);
  EXPECT_THAT(seen.summary.at("headline").get<std::string>(),
              HasSubstr(way.headline));
  EXPECT_EQ(Joined(seen.codes, " "), way.code);
  for (const auto& one : seen.summary.at("unexpected")) {
    const bool is_planned = one.at("test_id") == trial.b().test_id;
    EXPECT_EQ(one.at("repro").get<std::string>().empty(), !is_planned);
  }
  return seen.AsPage();
}

// Kills: a way to be red that one of the readers takes for green; a reader with
// a rule of its own.
TEST(RedTest, AllReadersSeeEachWay) {
  const file::ScratchFolder scratch;
  std::vector<Way> ways;
  for (const auto& some :
       {ResultsThatAreRed(), BackendsThatAreRed(), NotRed()}) {
    ways.insert(ways.end(), some.begin(), some.end());
  }
  std::vector<std::string> wanted;
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    wanted.push_back(
        ExpectSeen(way, scratch.path() / std::to_string(wanted.size())));
  }
  const auto pages = PagesOf(scratch.path(), ways.size());
  ASSERT_EQ(pages.size(), ways.size()) << Joined(pages, "\n");
  for (size_t i = 0; i < ways.size(); ++i) {
    EXPECT_EQ(pages[i], wanted[i]) << ways[i].name;
  }
}

// Kills: a run that could not be written and ends as if it were; a file of it
// that a reader takes for a run that was green.
TEST(RedTest, AFullDiskLeavesNothingThatIsGreen) {
  const file::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "run";
  fs::create_directory(folder);
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {.rlim_cur = 64, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto env = select::EnvironmentRows();
  const RedTrial trial;
  setrlimit(RLIMIT_FSIZE, &small);
  const Result<int> code =
      FinishRun(trial.plan, trial.raw, select::BeginRun(trial.plan, env, {}),
                env, {.folder = folder, .report = false});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(code, IsStatus(StatusCode::kResourceExhausted, "cannot write"));
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
}  // namespace assay::run

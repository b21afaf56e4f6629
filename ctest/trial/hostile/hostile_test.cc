// SPDX-License-Identifier: Apache-2.0
//
// Every behaviour in behaviours/ in a module under test: its case gets the
// outcome that its comment wants, every other case of its worker and of the
// worker after it the verdict that it has without, nothing of it is left. With
// ASSAY_CHOSEN_BEHAVIOURS, names with spaces between, those alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"

namespace assay::hostile {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kCases =
    "not id:node/Neg/test_neg_example and (op:Abs or op:Ceil or op:Exp or "
    "op:Floor or op:Identity or op:LeakyRelu or op:Neg or op:Not or op:Relu or "
    "op:Sign or op:Tanh)";
constexpr uintmax_t kLogLimit = 1100 << 10;

/// True where a run has walls around its backends.
bool HasWalls() {
  const file::ScratchFolder folder;
  AssayRun run(folder.path(),
               RunOf({ModuleOf("echo")}, {"--filter", "op:Neg"}));
  run.Wait();
  const auto backends = record::ParseCsv<record::BackendRow>(
      TextOf(folder.path() / "run/backends.csv"));
  return backends.ok() && backends->size() == 1 &&
         backends->at(0).reach.empty();
}

/// All that can be done here, or those of them that were chosen.
std::vector<Behaviour> BehavioursToRun() {
  std::vector<Behaviour> behaviours = ChosenBehaviours(ASSAY_BEHAVIOURS);
  const bool walls = HasWalls();
  std::erase_if(behaviours, [walls](const Behaviour& each) {
    return each.needs == "walls" && !walls;
  });
  return behaviours;
}

/// A run of the hostile module and of one that only echoes.
struct Seen {
  CaseVerdicts verdicts;
  int exit_code = 0;
  std::string output;
  std::string summary;
  std::string noted;  // the module's last word on its attempt
  uintmax_t log_bytes = 0;
  size_t leftovers = 0;
};

Seen SeenOf(const Behaviour& behaviour) {
  const file::ScratchFolder folder;
  AssayRun run(folder.path(),
               RunOf({ModuleOf(behaviour.module) + behaviour.settings(),
                      ModuleOf("echo")},
                     {"--filter", kCases, "--jobs", "1", "--timeout",
                      behaviour.timeout, "--memory", behaviour.memory}));
  Seen seen;
  seen.exit_code = run.Wait();
  seen.leftovers = run.Leftovers().size();
  for (const pid_t pid : run.Leftovers()) kill(pid, SIGKILL);
  seen.output = run.Output();
  seen.verdicts = VerdictsOf(folder.path() / "run");
  seen.summary = TextOf(folder.path() / "run/summary.md");
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(folder.path() / "run/records", error)) {
    if (entry.path().extension() != ".log") continue;
    seen.log_bytes += entry.file_size();
    std::ifstream log(entry.path());
    constexpr std::string_view kNoted = "noted: ";
    for (std::string line; std::getline(log, line);) {
      if (line.starts_with(kNoted)) seen.noted = line.substr(kNoted.size());
    }
  }
  return seen;
}

/// The verdict of each case without a behaviour.
std::map<std::string, CaseVerdict> Clean() {
  const file::ScratchFolder folder;
  AssayRun run(folder.path(),
               RunOf({ModuleOf("echo")}, {"--filter", kCases, "--jobs", "1"}));
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  std::map<std::string, CaseVerdict> clean;
  for (const auto& [key, verdict] : VerdictsOf(folder.path() / "run")) {
    clean[key.second] = verdict;
  }
  return clean;
}

struct Row {
  std::string outcome;
  std::string message;  // from the part that was wanted on
  int passed = 0;       // of the module's cases, that do not without
  int unchanged = 0;
  int others = 0;
};

/// Checks one run and returns its line of the table.
Row Check(const Behaviour& behaviour, const Seen& seen,
          const std::map<std::string, CaseVerdict>& clean) {
  SCOPED_TRACE(behaviour.name + "\n" + seen.output);
  const std::string instance = behaviour.instance();
  Row row;
  EXPECT_EQ(seen.exit_code, 1);
  EXPECT_EQ(seen.verdicts.size(), 2 * clean.size());
  for (const auto& [key, verdict] : seen.verdicts) {
    const auto& [backend, test_id] = key;
    const CaseVerdict& without = clean.at(test_id);
    if (backend == instance && verdict.outcome == "pass") {
      row.passed += without.outcome == "pass" ? 0 : 1;
    }
    const bool hostile = backend == instance && (behaviour.scope == "all" ||
                                                 test_id == behaviour.test_id);
    if (!hostile) {
      ++row.others;
      row.unchanged += verdict == without ? 1 : 0;
      EXPECT_EQ(verdict.outcome, without.outcome) << backend << " " << test_id;
      EXPECT_EQ(verdict.message, without.message) << backend << " " << test_id;
      continue;
    }
    row.outcome = verdict.outcome;
    const size_t wanted = verdict.message.find(behaviour.message);
    row.message = wanted == std::string::npos ? verdict.message
                                              : verdict.message.substr(wanted);
    if (behaviour.outcome == "unchanged") {
      EXPECT_EQ(verdict.outcome, without.outcome);
      EXPECT_EQ(verdict.message, without.message);
      row.message = "as without";
    } else {
      EXPECT_EQ(verdict.outcome, behaviour.outcome);
      EXPECT_THAT(verdict.message, HasSubstr(behaviour.message));
    }
  }
  EXPECT_EQ(row.passed, 0) << "cases that pass without being right";
  EXPECT_THAT(seen.noted, HasSubstr(behaviour.noted));
  EXPECT_EQ(seen.leftovers, 0U);
  EXPECT_LE(seen.log_bytes, kLogLimit);
  if (behaviour.backend.empty()) {
    for (const char* said :
         {"the worker ended after", "the worker took",
          "the worker ended between", "the worker ended before"}) {
      EXPECT_THAT(seen.summary, Not(HasSubstr(said)));
    }
  } else {
    EXPECT_THAT(seen.summary, HasSubstr(behaviour.backend));
    const size_t why = behaviour.backend.find(": ");
    row.message =
        "of the backend: " +
        behaviour.backend.substr(why == std::string::npos ? 0 : why + 2);
  }
  return row;
}

/// Runs them three at a time; most of them wait.
std::vector<Seen> RunAll(const std::vector<Behaviour>& behaviours) {
  std::vector<Seen> seen(behaviours.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < behaviours.size(); i = next++) {
      seen[i] = SeenOf(behaviours[i]);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < 3; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  return seen;
}

/// A table of what tries to be called conformant.
void PrintForgeries(const std::vector<Behaviour>& behaviours,
                    const std::vector<Seen>& seen,
                    const std::vector<Row>& rows) {
  std::puts(
      "\n| forgery | what it tries | what became of it | passes |\n"
      "| --- | --- | --- | --- |");
  for (size_t i = 0; i < behaviours.size(); ++i) {
    if (behaviours[i].tries.empty()) continue;
    const std::string& noted = seen[i].noted;
    std::printf("| %s | %s | %s%s | %d |\n", behaviours[i].name.c_str(),
                behaviours[i].tries.c_str(),
                noted.empty() ? "" : StrCat(noted, "; ").c_str(),
                rows[i].outcome.c_str(), rows[i].passed);
  }
}

TEST(HostileTest, EachBehaviourSaysWhatMustBecomeOfIt) {
  const std::vector<Behaviour> behaviours = BehavioursIn(ASSAY_BEHAVIOURS);
  EXPECT_GE(behaviours.size(), 136U);
  for (const Behaviour& each : behaviours) {
    EXPECT_NE(each.outcome, "") << each.name;
  }
  const auto same =
      std::ranges::adjacent_find(behaviours, {}, &Behaviour::name);
  EXPECT_EQ(same, behaviours.end()) << same->name << " is there twice";
}

TEST(HostileTest, EachBehaviourIsContainedAndChangesNoOtherVerdict) {
  const std::vector<Behaviour> behaviours = BehavioursToRun();
  ASSERT_GE(behaviours.size(), 4U);
  const auto clean = Clean();
  ASSERT_GE(clean.size(), 12U);
  std::set<std::string> outcomes;
  for (const auto& [test_id, verdict] : clean) outcomes.insert(verdict.outcome);
  EXPECT_GE(outcomes.size(), 2U) << "verdicts that cannot differ tell nothing";
  const std::vector<Seen> seen = RunAll(behaviours);
  std::printf("%-24s %-11s %-38s %s\n", "behaviour", "outcome", "message",
              "unchanged");
  std::vector<Row> rows;
  for (size_t i = 0; i < behaviours.size(); ++i) {
    const Row& row = rows.emplace_back(Check(behaviours[i], seen[i], clean));
    std::printf("%-24s %-11s %-38.38s %d of %d\n", behaviours[i].name.c_str(),
                row.outcome.c_str(), row.message.c_str(), row.unchanged,
                row.others);
  }
  PrintForgeries(behaviours, seen, rows);
}

}  // namespace
}  // namespace assay::hostile

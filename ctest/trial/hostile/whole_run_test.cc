// SPDX-License-Identifier: Apache-2.0
//
// Whole runs. Forgeries claim results that they do not compute: none gets the
// word conformant, and no file that they have written beside runs. A backend
// crashes at about one model in twenty, told by a hash of its bytes: all other
// models keep their verdicts. The cost of a crash is printed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"

namespace assay::hostile {
namespace {

namespace fs = std::filesystem;
using testing::StartsWith;

/// One that looks for answers, one that reaches for the judge's programs, one
/// that answers for itself, one that declines, one that talks.
constexpr std::initializer_list<const char*> kForgeries = {
    "answers_uncovered", "programs_writable", "calls_intercepted",
    "declines_what_fails", "says_conformant"};

/// The text behind "INSTANCE: ", the word first; empty when nothing is said.
std::string WordOf(const std::string& output, const std::string& instance) {
  const std::string start = instance + ": ";
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return {};
}

TEST(ForgeryTest, NoneIsConformant) {
  const file::ScratchFolder folder;
  std::vector<std::string> arguments = {"run",         "--repeats", "0",
                                        "--no-report", "--out",     "run"};
  for (const char* const name : kForgeries) {
    const Behaviour forgery = BehaviourNamed(name);
    folder.Write(StrCat("modules/", forgery.module, ".policy/claims.txt"),
                 "claim forward where op:Neg\n");
    const fs::path module =
        folder.path() / "modules" / StrCat(forgery.module, ".so");
    fs::copy_file(ModuleOf(forgery.module), module,
                  fs::copy_options::skip_existing);
    arguments.insert(arguments.end(),
                     {"--backend", module.string() + forgery.settings()});
  }
  AssayRun run(folder.path(), arguments);
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  for (const char* const name : kForgeries) {
    const std::string word =
        WordOf(run.Output(), BehaviourNamed(name).instance());
    EXPECT_THAT(word, StartsWith("not conformant, ")) << run.Output();
    std::printf("%-20s %s\n", name, word.c_str());
  }
  EXPECT_TRUE(run.Leftovers().empty());
}

// Kills: a page that is made by what a module left in the working directory.
TEST(PageTest, PackagesInTheWorkingDirectoryAreNotImported) {
  const file::ScratchFolder folder;
  constexpr const char* kRuns = "open('ran', 'w')\n";
  for (const char* const file :
       {"jinja2.py", "json.py", "importlib.py", "assay_report/__init__.py",
        "assay_report/__main__.py"}) {
    folder.Write(file, kRuns);
  }
  AssayRun run(folder.path(),
               {"run", "--backend", ModuleOf("echo"), "--corpus", "onnx",
                "--filter", "op:Neg", "--repeats", "0", "--out", "run"});
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  EXPECT_FALSE(fs::exists(folder.path() / "ran"));
  if (!fs::exists(folder.path() / "run/report.html")) {
    GTEST_SKIP() << "no page on this machine:\n" << run.Output();
  }
}

constexpr const char* kPicked = "by its hash";

struct Whole {
  CaseVerdicts verdicts;
  double seconds = 0;
};

Whole RunWhole(const std::string& setting) {
  const file::ScratchFolder folder;
  const auto begin = std::chrono::steady_clock::now();
  AssayRun run(folder.path(),
               RunOf({ModuleOf("echo") + setting}, {"--jobs", "1"}));
  EXPECT_EQ(run.Wait(), 1) << run.Output();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(run.Leftovers().empty());
  return {VerdictsOf(folder.path() / "run"), took.count()};
}

TEST(CrashTest, AHundredCrashesAmongAllCasesChangeNoOtherVerdict) {
  // The same models, declined in one run and met with a crash in the other.
  const Whole declined = RunWhole("+decline_share=20");
  const Whole crashed = RunWhole("+crash_share=20");
  ASSERT_EQ(declined.verdicts.size(), 2036U);
  ASSERT_EQ(crashed.verdicts.size(), 2036U);
  int crashes = 0;
  for (const auto& [key, verdict] : declined.verdicts) {
    const CaseVerdict& other =
        crashed.verdicts.at({"echo+crash_share=20", key.second});
    if (verdict.message == kPicked) {
      ++crashes;
      EXPECT_EQ(other.outcome, "crash") << key.second << other.message;
    } else {
      EXPECT_EQ(other, verdict)
          << key.second << ": " << other.outcome << " " << other.message;
    }
  }
  EXPECT_GE(crashes, 80);
  EXPECT_LE(crashes, 130);
  std::printf("perf: %d crashes among %zu cases, %.1f s, %.1f ms for a crash\n",
              crashes, crashed.verdicts.size(), crashed.seconds,
              (crashed.seconds - declined.seconds) * 1e3 / crashes);
}

}  // namespace
}  // namespace assay::hostile

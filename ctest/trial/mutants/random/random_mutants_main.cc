// SPDX-License-Identifier: Apache-2.0
//
// Draws random changes of our own sources, compiles each, links it in front of
// the library that has the right source into the unit tests that cover it, and
// runs them up to the first that fails. Writes random_mutants.csv and .md into
// trust/ of the build's folder. Exits with 1 where fewer than the wanted share
// is killed.
//
//   bin/random_mutants --count 300 --seed 1 framework/metric

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "ctest/trial/mutants/build_tree.h"
#include "ctest/trial/mutants/harness_mutant.h"
#include "ctest/trial/mutants/random/change.h"
#include "ctest/trial/mutants/random/trial.h"
#include "ctest/trial/mutants/run_test.h"
#include "framework/file/file.h"

namespace assay::random_mutants {
namespace {

namespace fs = std::filesystem;
using harness_mutants::BuildTree;
using harness_mutants::UnitTest;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string root = ASSAY_ROOT;
  std::string build = ASSAY_BUILD;
  std::string equivalent = ASSAY_EQUIVALENT;
  std::string out;
  std::vector<std::string> under;
  std::vector<std::string> tests;
  std::string without;
  std::string only;
  uint64_t seed = 1;
  int count = 300;
  int jobs = 1;
  int seconds = 5;
  double least = 0;  // percent
  std::string optimize = "-O0";
  bool list = false;
};

struct Draw {
  std::string file;
  Change change;
};

/// A program's run with the right source in it.
struct Right {
  double cpu_seconds = 0;
  std::string slow;  // tests, as a filter of GoogleTest
};

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of all programs that have ended.
double ChildSeconds() {
  rusage used = {};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Blanks and line breaks apart, on which two texts may differ.
std::string Dense(std::string_view text) {
  std::string dense;
  for (const char c : text) {
    if (c != ' ' && c != '\n') dense += c;
  }
  return dense;
}

/// The changes that no test can see, by source and without blanks.
class Equivalents {
 public:
  /// An entry that no change yields any more is an error.
  static Result<Equivalents> Read(const Options& options) {
    Equivalents read;
    ASSAY_ASSIGN_OR_RETURN(const std::string list,
                           file::ReadFile(options.equivalent));
    const auto mutants = harness_mutants::ParseHarnessMutants(list);
    if (!mutants.ok()) return mutants.status().WithContext(options.equivalent);
    for (const harness_mutants::HarnessMutant& mutant : *mutants) {
      ASSAY_ASSIGN_OR_RETURN(
          const std::string text,
          file::ReadFile(fs::path(options.root) / mutant.file));
      ASSAY_ASSIGN_OR_RETURN(const std::string changed,
                             harness_mutants::Mutated(mutant, text));
      const bool drawn =
          std::ranges::any_of(ChangesOf(text), [&](const Change& change) {
            return Dense(Changed(text, change)) == Dense(changed);
          });
      if (!drawn) {
        return InvalidArgument(options.equivalent, ": no change that is drawn",
                               " of ", mutant.file, " is ", mutant.name);
      }
      read.listed_[mutant.file].insert(Dense(changed));
    }
    return read;
  }

  bool Contain(const std::string& file, const std::string& changed) const {
    const auto listed = listed_.find(file);
    return listed != listed_.end() && listed->second.contains(Dense(changed));
  }

 private:
  std::map<std::string, std::set<std::string>> listed_;
};

using Texts = std::map<std::string, std::string>;  // by source

/// All changes of all sources, in an order that is the seed's.
std::vector<Draw> DrawsOf(const Texts& texts, uint64_t seed) {
  std::vector<Draw> draws;
  for (const auto& [source, text] : texts) {
    for (Change& change : ChangesOf(text)) {
      draws.push_back({source, std::move(change)});
    }
  }
  std::mt19937_64 random(seed);
  for (size_t i = draws.size(); i > 1; --i) {
    std::swap(draws[i - 1], draws[random() % i]);
  }
  return draws;
}

Trial TrialOf(const Draw& draw, const std::string& text) {
  Trial trial;
  trial.file = draw.file;
  trial.line = draw.change.line;
  trial.kind = draw.change.kind;
  trial.before = text.substr(draw.change.at, draw.change.size);
  trial.after = draw.change.replacement;
  return trial;
}

bool Compile(const BuildTree& tree, const std::string& file,
             const std::string& text, const std::string& options,
             const fs::path& object) {
  const fs::path changed = object.parent_path() / fs::path(file).filename();
  if (!file::WriteFile(changed, text).ok()) return false;
  // An index behind the end is a fault that ends the program.
  const std::string checked = options + " -D_GLIBCXX_ASSERTIONS";
  return harness_mutants::Shell(
             tree.CompileCommand(file, changed, checked, object))
             .wait_status == 0;
}

bool IsSameCode(const BuildTree& tree, const std::string& file,
                const std::string& text, const std::string& changed,
                const fs::path& folder) {
  const fs::path object = folder / "optimized.o";
  const auto bytes = [&](const std::string& source) -> Result<std::string> {
    if (!Compile(tree, file, source, "-O2", object)) {
      return Internal("no object");
    }
    return file::ReadFile(object);
  };
  const auto right = bytes(text);
  const auto wrong = bytes(changed);
  return right.ok() && wrong.ok() && *right == *wrong;
}

/// The test with this object in front of its libraries, beside the object.
Result<fs::path> Link(const BuildTree& tree, const UnitTest& test,
                      const fs::path& object) {
  const fs::path program = object.parent_path() / "changed_test";
  const harness_mutants::Output linked =
      harness_mutants::Shell(tree.LinkCommand(test, {object}, program));
  if (linked.wait_status == 0) return program;
  return Internal("cannot link ", test.target, ": ", linked.text);
}

/// A filter that leaves out these tests, and those that the options name.
std::string Without(const Options& options, const std::string& tests) {
  if (tests.empty() && options.without.empty()) return "";
  return StrCat("-", tests, ":", options.without);
}

class RandomMutants {
 public:
  RandomMutants(Options options, BuildTree tree)
      : options_(std::move(options)), tree_(std::move(tree)) {}

  Status Prepare() {
    for (const std::string& under : options_.under) {
      const auto sources = tree_.SourcesUnder(under);
      if (sources.empty()) {
        return InvalidArgument("no library with a test has a source ", under);
      }
      for (const std::string& source : sources) {
        ASSAY_ASSIGN_OR_RETURN(
            texts_[source], file::ReadFile(fs::path(options_.root) / source));
      }
    }
    ASSAY_ASSIGN_OR_RETURN(equivalents_, Equivalents::Read(options_));
    draws_ = DrawsOf(texts_, options_.seed);
    if (options_.only.empty()) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(const std::string only,
                           file::ReadFile(options_.only));
    std::erase_if(draws_, [&](const Draw& draw) {
      const Trial trial = TrialOf(draw, texts_.at(draw.file));
      return only.find(Describe(trial) + "\n") == only.npos;
    });
    return OkStatus();
  }

  /// The right programs must pass; how long they take is their limit. They are
  /// compiled and linked as mutants are, so that nothing else kills those.
  Status RunRightOnes() {
    const fs::path folder = Folder() / "right";
    const fs::path object = folder / "right.o";
    std::error_code error;
    fs::create_directories(folder, error);
    for (const auto& [source, text] : texts_) {
      auto tests = TestsOf(source);
      std::erase_if(tests, [&](const BuildTree::Covering& one) {
        return right_.contains(one.test);
      });
      if (tests.empty()) continue;
      if (!Compile(tree_, source, text, options_.optimize, object)) {
        return Internal(source, ", unchanged, does not compile");
      }
      for (const auto& [test, is_near] : tests) {
        ASSAY_ASSIGN_OR_RETURN(const fs::path program,
                               Link(tree_, *test, object));
        const double before = ChildSeconds();
        const harness_mutants::TestOutput seen =
            harness_mutants::RunTest({.folder = folder / "run",
                                      .test = program,
                                      .filter = Without(options_, ""),
                                      .assay = AssayProgram()});
        if (!seen.Clean()) {
          return Internal(test->target,
                          ", unchanged, does not pass: ", seen.Describe());
        }
        Right& right = right_[test];
        right.cpu_seconds = ChildSeconds() - before;
        right.slow = Joined(seen.slow, ":");
      }
    }
    return OkStatus();
  }

  void List() const {
    for (const auto& [source, text] : texts_) {
      std::cout << source;
      for (const auto& [test, is_near] : TestsOf(source)) {
        std::cout << " " << test->target;
      }
      std::cout << "\n";
    }
    for (const Draw& draw : draws_) {
      std::cout << Describe(TrialOf(draw, texts_.at(draw.file))) << "\n";
    }
  }

  Result<std::vector<Trial>> Run() {
    std::vector<std::jthread> threads(
        static_cast<size_t>(std::max(1, options_.jobs)));
    for (size_t i = 0; i < threads.size(); ++i) {
      threads[i] = std::jthread([this, i] { Work(i); });
    }
    threads.clear();
    ASSAY_RETURN_IF_ERROR(failure_);
    std::vector<Trial> trials;
    int tried = 0;
    for (auto& [place, trial] : trials_) {
      if (trial.end == TrialEnd::kNotCompiled) continue;
      if (++tried > options_.count) break;
      trials.push_back(std::move(trial));
    }
    return trials;
  }

  fs::path Folder() const { return fs::path(options_.out) / "random_mutants"; }

 private:
  fs::path AssayProgram() const {
    return fs::path(options_.build) / "bin" / "assay";
  }

  std::vector<BuildTree::Covering> TestsOf(const std::string& source) const {
    auto tests = tree_.TestsOf(source);
    if (options_.tests.empty()) return tests;
    std::erase_if(tests, [&](const BuildTree::Covering& one) {
      return std::ranges::count(options_.tests, one.test->target) == 0;
    });
    return tests;
  }

  void Work(size_t worker) {
    const fs::path folder = Folder() / std::to_string(worker);
    std::error_code error;
    fs::create_directories(folder, error);
    for (size_t i = next_++; i < draws_.size(); i = next_++) {
      if (tried_ >= options_.count) return;
      Trial trial = Try(draws_[i], folder);
      if (trial.end != TrialEnd::kNotCompiled) ++tried_;
      const std::lock_guard lock(mutex_);
      std::cout << ToString(trial.end) << " " << Describe(trial)
                << (trial.killed_by.empty() ? "" : ", by ") << trial.killed_by
                << std::endl;
      trials_.emplace(i, std::move(trial));
      if (!failure_.ok()) next_ = draws_.size();
    }
  }

  Trial Try(const Draw& draw, const fs::path& folder) {
    const auto start = Clock::now();
    const std::string& text = texts_.at(draw.file);
    Trial trial = TrialOf(draw, text);
    const std::string changed = Changed(text, draw.change);
    if (equivalents_.Contain(draw.file, changed)) {
      trial.end = TrialEnd::kEquivalent;
      return trial;
    }
    const fs::path object = folder / "changed.o";
    if (Compile(tree_, draw.file, changed, options_.optimize, object)) {
      RunTests(draw.file, object, &trial);
      if (trial.end == TrialEnd::kSurvived &&
          IsSameCode(tree_, draw.file, text, changed, folder)) {
        trial.end = TrialEnd::kSameCode;
      }
    }
    trial.seconds = SecondsSince(start);
    return trial;
  }

  /// The quick tests of all programs, then the slow ones of those near by.
  void RunTests(const std::string& file, const fs::path& object, Trial* trial) {
    trial->end = TrialEnd::kSurvived;
    for (const bool slow : {false, true}) {
      for (const auto& [test, is_near] : TestsOf(file)) {
        const Right& right = right_.at(test);
        if (slow && (!is_near || right.slow.empty())) continue;
        const Result<fs::path> program = Link(tree_, *test, object);
        if (!program.ok()) {
          // A change takes no symbol away: the build is not that of the tree.
          const std::lock_guard lock(mutex_);
          failure_ = program.status();
          trial->end = TrialEnd::kNotCompiled;
          return;
        }
        const int limit =
            options_.seconds + static_cast<int>(5 * right.cpu_seconds);
        const harness_mutants::TestOutput seen = harness_mutants::RunTest(
            {.folder = object.parent_path() / "run",
             .test = *program,
             .filter = slow ? right.slow : Without(options_, right.slow),
             .assay = AssayProgram(),
             .seconds = 10 * limit,
             .cpu_seconds = limit,
             .memory_mib = 8192});
        if (!seen.Killed()) continue;
        trial->end = TrialEnd::kKilled;
        trial->killed_by = StrCat(test->target, " ", seen.first_failure);
        return;
      }
    }
  }

  const Options options_;
  const BuildTree tree_;
  Texts texts_;
  Equivalents equivalents_;
  std::map<const UnitTest*, Right> right_;
  std::vector<Draw> draws_;

  std::atomic<size_t> next_ = 0;
  std::atomic<int> tried_ = 0;
  std::mutex mutex_;
  Status failure_;
  std::map<size_t, Trial> trials_;  // by place in draws_
};

Result<int> Main(const Options& options) {
  const auto start = Clock::now();
  ASSAY_ASSIGN_OR_RETURN(BuildTree tree,
                         BuildTree::Read(options.root, options.build));
  RandomMutants mutants(options, std::move(tree));
  ASSAY_RETURN_IF_ERROR(mutants.Prepare());
  if (options.list) {
    mutants.List();
    return 0;
  }
  ASSAY_RETURN_IF_ERROR(mutants.RunRightOnes());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Trial> trials, mutants.Run());
  const std::string base = mutants.Folder().string();
  ASSAY_RETURN_IF_ERROR(file::WriteFile(base + ".csv", TrialsCsv(trials)));
  ASSAY_RETURN_IF_ERROR(file::WriteFile(base + ".md", TrialsMarkdown(trials)));
  const Kills kills = CountKills(trials);
  std::cout << "\n"
            << TrialsMarkdown(trials) << "\n"
            << trials.size() << " tried in " << SecondsSince(start)
            << " s with seed " << options.seed << ", written to " << base
            << ".csv and .md\n";
  if (kills.killed + kills.survived == 0) return InvalidArgument("none tried");
  return kills.Percent() >= options.least ? 0 : 1;
}

}  // namespace
}  // namespace assay::random_mutants

int main(int argc, char** argv) {
  assay::random_mutants::Options options;
  CLI::App app("Random mutants of our own sources");
  app.add_option("under", options.under, "sources or folders")->required();
  app.add_option("--count", options.count, "how many are tried");
  app.add_option("--seed", options.seed, "says which");
  app.add_option("--jobs", options.jobs, "at a time");
  app.add_option("--seconds", options.seconds,
                 "of processor time beyond five times what the test needs");
  app.add_option("--least", options.least, "percent that must be killed");
  app.add_option("--test", options.tests, "only these targets")
      ->allow_extra_args(false);
  app.add_option("--without", options.without,
                 "tests that are not run, as a filter of GoogleTest");
  app.add_option("--only", options.only,
                 "a file with the lines of changes, which alone are tried");
  app.add_option("--optimize", options.optimize, "option for the compiler");
  app.add_option("--equivalent", options.equivalent, "list of equivalent ones");
  app.add_option("--build", options.build, "folder of the build");
  app.add_option("--out", options.out, "folder of the tables");
  app.add_flag("--list", options.list, "prints the changes and tries none");
  CLI11_PARSE(app, argc, argv);
  if (options.out.empty()) options.out = options.build + "/trust";
  const auto code = assay::random_mutants::Main(options);
  if (code.ok()) return *code;
  std::cerr << "random_mutants: " << code.status().message() << "\n";
  return 99;
}

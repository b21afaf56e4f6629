// SPDX-License-Identifier: Apache-2.0
//
// Each way to be red in a run of the program, planned, run as an entry of CTest
// and merged, as all who read it see it. run/red_test.cc has the ways that no
// module is here for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/cli/run/readers_fixture.h"
#include "framework/cli/tree_fixture.h"

namespace assay::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kOneCase = "id:node/Identity/test_identity";
constexpr const char* kTwoCases =
    "id:node/Identity/test_identity or id:node/Dropout/test_dropout_default";
constexpr const char* kWholeTree = "";  // of a tree
constexpr const char* kFailExpected =
    "expect fail where op:Identity because \"x\"\n";

struct Way {
  const char* name;
  const char* backend;    // module, which gives its input, and settings
  const char* code;       // of what is unexpected; empty: nothing is
  int entry = 1;          // exit code of the part
  const char* file = "";  // of its policy
  const char* text = "";
  const char* cases = kOneCase;
  const char* how = "";  // options of the part
};

class RedRunTest : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    ReplaceReference(ASSAY_FEW_OPERATORS);
    for (const char* name : {"faulty.so", "misbehaving.so"}) {
      std::filesystem::create_symlink(tree_ / "lib/assay" / name,
                                      folder_ / name);
    }
    LoseALibrary(folder_ / "lost.so");
  }

  /// Plans, runs and merges into the folder `run`; asserts all readers but the
  /// page, whose word it gives.
  std::string ExpectSeen(const Way& way, const std::string& run) const {
    const bool whole = way.cases == kWholeTree;
    const std::string module(way.backend, std::strcspn(way.backend, "+"));
    const auto policy =
        (whole ? tree_ / "lib/assay" : folder_) / (module + ".policy");
    std::filesystem::remove_all(policy);
    if (*way.file != 0) {
      std::filesystem::create_directories(policy);
      std::ofstream(policy / way.file) << way.text;
    }
    const std::string backend =
        whole ? way.backend
              : StrCat("./", module, ".so", way.backend + module.size());
    const std::string program = whole ? "tree/bin/assay" : Program();
    const std::string plan = StrCat("plan-", run);
    EXPECT_THAT(Shell(program, " plan --out ", plan, " --backend ", backend,
                      whole ? "" : StrCat(" --filter '", way.cases, "'")),
                Ended(0));
    EXPECT_THAT(Shell(program, " run --plan ", plan, " --parts ", plan,
                      "/parts ", way.how),
                Ended(way.entry));
    const int exit_code = *way.code != 0 ? 1 : 0;
    EXPECT_THAT(
        Shell(program, " merge ", plan, " --no-report --out ", run),
        Ended(exit_code, exit_code == 0 ? "\nAs expected." : "1 unexpected."));
    const run::Seen seen = run::SeenIn(folder_ / run);
    EXPECT_EQ(seen.red_in_junit, exit_code);
    EXPECT_THAT(seen.markdown,
                HasSubstr(exit_code == 0 ? "Nothing unexpected."
                                         : "\n## Unexpected: 1"));
    EXPECT_EQ(seen.summary.at("exit_code"), exit_code);
    EXPECT_EQ(seen.summary.at("as_expected"), exit_code == 0);
    EXPECT_EQ(Joined(seen.codes, " "), way.code);
    return seen.AsPage();
  }
};

// Kills: a way to be red that a reader of a real run takes for green.
TEST_F(RedRunTest, EachWayIsSeenByAllReaders) {
  const std::vector<Way> ways = {
      {"all pass", "misbehaving", "", 0},
      {"a wrong value", "faulty+mutant=value", "value"},
      {"a suspect pass", "faulty+mutant=zeros", "limit", 1, "expectations.txt",
       "tolerate rtol=1e9 atol=1e9 where op:Identity because \"x\"\n"},
      {"an error", "misbehaving+chdir=Identity", "state_changed"},
      {"a crash", "misbehaving+crash=Identity", "signal"},
      {"a timeout", "misbehaving+hang=Identity", "limit", 1, "", "", kOneCase,
       "--timeout 0.5"},
      {"a case that passes at times", "misbehaving+poison=Dropout", "flaky", 1,
       "", "", kTwoCases},
      {"a fail that is expected", "faulty+mutant=value", "", 0,
       "expectations.txt", kFailExpected},
      {"a pass where a fail is expected", "misbehaving", "expectation", 1,
       "expectations.txt", kFailExpected},
      {"another outcome than the expected one", "misbehaving+crash=Identity",
       "signal", 1, "expectations.txt", kFailExpected},
      {"a line whose case is declined now", "misbehaving+decline=Identity",
       "expectation", 1, "expectations.txt", kFailExpected, kTwoCases},
      {"declined inside the claims", "misbehaving+decline=Identity", "operator",
       1, "claims.txt", "claim forward where op:Identity\n"},
      {"a lost floor", "misbehaving+decline=Identity", "floor", 1,
       "passing.txt", "node/Identity/test_identity\n", kTwoCases},
      {"a missing library", "lost", "device"},
      {"a part is missing", "misbehaving", "accounting", 0, "", "", kTwoCases,
       "--shard 1/3"},
      {"a backend that declines everything", "misbehaving+decline=all",
       "accounting", 0},
      {"all of a tree", "reference", "", 0, "", "", kWholeTree},
      {"a line past its date", "reference", "policy", 0, "expectations.txt",
       "expect fail where op:Abs because \"x\" until 2020-01-01\n", kWholeTree},
      {"a line of no use", "reference", "policy", 0, "expectations.txt",
       "expect fail where op:Conv because \"x\"\n", kWholeTree},
      {"claims that were emptied", "reference", "policy", 0, "claims.txt",
       "# later\n", kWholeTree},
      {"a floor whose case left the plan", "reference", "floor", 0,
       "passing.txt", "node/Abs/gone\n", kWholeTree},
  };
  std::vector<std::string> wanted;
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    wanted.push_back(ExpectSeen(way, std::to_string(wanted.size())));
  }
  const auto pages = run::PagesOf(folder_, ways.size());
  ASSERT_EQ(pages.size(), ways.size()) << Joined(pages, "\n");
  for (size_t i = 0; i < ways.size(); ++i) {
    EXPECT_EQ(pages[i], wanted[i]) << ways[i].name;
  }
}

// Kills: a disk that is full, and a run that ends as if it were whole.
TEST_F(RedRunTest, AFullDiskEndsARunWithoutASummary) {
  const std::string plan =
      StrCat(" --backend faulty --filter '", kOneCase, "' ");
  EXPECT_THAT(Assay("plan --out plan", plan), Ended(0));
  EXPECT_THAT(Assay("run --plan plan --parts plan/parts"), Ended(0));
  for (const std::string& command :
       {StrCat("run --no-report --out run", plan),
        StrCat("plan --out run", plan),
        std::string("merge plan --no-report --out run"),
        std::string("run --plan plan --parts run"),
        std::string("completion bash >run"),
        std::string("list cases --corpus onnx >run")}) {
    EXPECT_THAT(Shell("trap '' XFSZ; ulimit -f 1; ", Program(), " ", command),
                Ended(99, "cannot write "))
        << command;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/summary.json"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "run/junit"));
    std::filesystem::remove_all(folder_ / "run");
  }
}

}  // namespace
}  // namespace assay::cli

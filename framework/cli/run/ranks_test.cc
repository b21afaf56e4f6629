// SPDX-License-Identifier: Apache-2.0
//
// Runs over libraries that carry messages between ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "framework/cli/program_fixture.h"
#include "framework/core/text.h"

namespace assay::run {
namespace {

using cli::Program;
using cli::ProgramTest;
using cli::Ran;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class RanksTest : public ProgramTest {
 protected:
  /// False where no MPI was found when this was built.
  static bool HasMpi() {
    return std::filesystem::exists(
        std::filesystem::path(ASSAY_REFERENCE).parent_path() / "openmpi.so");
  }

  /// A run of up to 8 ranks, behind this test's back. Its workers have the
  /// folder in their commands.
  void Begin(const std::string& more = "") const {
    Shell(Program(), " run --backend openmpi --filter op:dist.allreduce --out ",
          folder_.string(), "/out ", more, " >log 2>&1 & echo $! >pid");
  }

  /// True behind the launch, in the first case or later.
  bool HasCalls() const {
    return std::filesystem::exists(folder_ / "out" / "records" /
                                   "openmpi.1.scratch" / "rank_calls");
  }

  /// How many processes have that text in their command.
  int Processes(const std::string& text) const {
    // The brackets keep the shell's own command out.
    const Ran ran = Shell("pgrep -fc '[", text.substr(0, 1), "]",
                          text.substr(1), "' || true");
    return std::stoi(ran.output);
  }

  /// Waits until `holds`, for a machine that is busy up to a minute.
  static bool Wait(auto&& holds) {
    for (int i = 0; i < 600; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }
};

// Kills: a case of networks that is planned for ranks; a table without rows.
TEST_F(RanksTest, ARunHasItsCasesAndItsTable) {
  EXPECT_THAT(
      Assay("run --backend threads --filter 'op:dist.barrier' --out out"),
      cli::Ended(0, "threads on distributed: "));
  EXPECT_THAT(Text("out/distributed.csv"),
              HasSubstr("barrier/dissemination,threads,61,"));
}

TEST_F(RanksTest, NetworksAndRanksAreNotMixed) {
  for (const char* wrong : {"--backend threads --suite node",
                            "--backend reference --suite distributed"}) {
    EXPECT_THAT(Assay("run ", wrong),
                cli::Ended(2, "has a case for these backends"));
  }
}

// Kills: names of another suite for one of ranks, or none of what there is.
TEST_F(RanksTest, ANameThatIsNoneIsAnsweredWithWhatThereIs) {
  const struct {
    const char* options;
    const char* says;
  } rows[] = {
      {"--backend threads --filter "
       "id:distributed/allreduce/ring.float32.sum.20000#n3",
       "'; found 20000 elements, wanted 0 to 1031 with 3 ranks"},
      {"--backend threads --ranks 2 --filter "
       "id:distributed/allreduce/ring.float32.sum.5#n3",
       "#n3 has 3 ranks, and --ranks permits 2"},
      {"--backend threads --filter "
       "id:distributed/allreduce/own.float32.sum.262146#n2",
       "#n2 is of tier nightly, wanted ci or less"},
      {"--backend threads --filter id:distributed/allreduce/mine#n3",
       "found 'mine' behind distributed allreduce, wanted binomial or "},
      {"--backend reference --filter "
       "id:distributed/allreduce/ring.float32.sum.5#n3",
       "is of ranks, and no backend of the run has any"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Assay("run ", row.options), cli::Ended(2, row.says));
  }
}

// Kills: ranks that stand still and are not named with their calls.
TEST_F(RanksTest, RanksThatStandStillAreNamedWithTheirCalls) {
  const Ran ran = Assay(
      "run --backend threads+mutant=receives_before_it_sends --out out "
      "--filter 'id:distributed/allreduce/ring*#n4*'");
  EXPECT_NE(ran.exit_code, 0) << ran.output;
  const std::string results = Text("out/results.csv");
  EXPECT_THAT(results, HasSubstr("ranks stand still: "));
  EXPECT_THAT(
      results,
      ContainsRegex("rank 0 in send [0-9]+ bytes to rank 1 and receive "
                    "[0-9]+ bytes from rank 3 \\(call 1\\); rank 1 in "));
  EXPECT_THAT(results, HasSubstr("; rank 0 waits for rank 3, which waits for "
                                 "rank 2, which waits for rank 1, which waits "
                                 "for rank 0"));
}

// Kills: an order that is drawn anew each time, or is always the same one.
TEST_F(RanksTest, AScheduleIsAnOrderThatComesAgain) {
  const auto table = [&](int schedule, const std::string& out) {
    EXPECT_THAT(Assay("run --backend threads+schedule=", schedule, " --out ",
                      out, " --filter 'id:distributed/async_server/*'"),
                cli::Ended(0));
    // But the backend's name and what was timed.
    return Shell(
               "awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) left_out[i] = "
               "$i ~ "
               "/_us$|^backend$|^run_id$/ } { for (i = 1; i <= NF; ++i) if "
               "(!left_out[i]) printf \"%s,\", $i; print \"\" }' ",
               out, "/distributed.csv | sort")
        .output;
  };
  const std::string first = table(1, "out");
  EXPECT_THAT(first, HasSubstr("async_server"));
  EXPECT_EQ(table(1, "again"), first);
  bool has_another = false;
  for (const int other : {2, 3, 4, 5}) {
    has_another = has_another || table(other, StrCat("out_", other)) != first;
  }
  EXPECT_TRUE(has_another);
}

TEST_F(RanksTest, AScheduleThatIsNoneIsNamed) {
  Assay(
      "run --backend threads+schedule=soon --filter op:dist.barrier --out out");
  EXPECT_THAT(Text("out/results.csv"),
              HasSubstr("setting schedule is 'soon', wanted a whole number "
                        "from 0 to 2^64 - 1"));
}

TEST_F(RanksTest, APatienceThatIsNoneIsNamed) {
  if (!HasMpi()) GTEST_SKIP() << "found no MPI";
  for (const char* const wrong : {"soon", "0", "3601", "2.5"}) {
    const std::string out = StrCat("out_", wrong);
    Assay("run --backend openmpi+patience=", wrong,
          " --ranks 2 --filter op:dist.barrier --repeats 0 --no-report --out ",
          out);
    EXPECT_THAT(Text(StrCat(out, "/results.csv")),
                HasSubstr(StrCat("setting patience is '", wrong,
                                 "', wanted whole seconds from 1 to 3600")));
  }
}

// Two ranks have each type, four each way, and five are no power of two.
TEST_F(RanksTest, EveryTransportHasTheSameBits) {
  if (!HasMpi()) GTEST_SKIP() << "found no MPI";
  EXPECT_THAT(
      Assay("run --backend threads --backend openmpi --no-report --out out "
            "--filter 'op:dist.allreduce and (id:*#n2 or id:*#n4 or id:*#n5)'"),
      cli::Ended(0));
  EXPECT_GT(std::stoi(Shell("grep -c ,openmpi, out/distributed.csv").output),
            100);
  // Cases and roots that have more than one hash.
  const Ran differing = Shell(
      "cut -d, -f4,12,18 out/distributed.csv | sort -u | cut -d, -f1,2 | "
      "uniq -d | wc -l");
  EXPECT_EQ(differing.output, "0\n");
}

// Kills: ranks that outlive the supervisor, or that nobody misses.
TEST_F(RanksTest, RanksEndWithTheirSupervisor) {
  if (!HasMpi()) GTEST_SKIP() << "found no MPI";

  const std::string mine = StrCat("assay-worker ", folder_.string());
  Begin();
  ASSERT_TRUE(Wait([&] { return Processes(mine) >= 8; }));
  Shell("kill -9 $(cat pid)");
  EXPECT_TRUE(Wait([&] { return Processes(mine) == 0; }));
  // The run that goes on removes the files that the ranks left.
  EXPECT_THAT(Assay("run --resume out"), cli::Ended(0));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "records" /
                                       "openmpi.1.scratch"));
}

// Kills: a case over its time that does not say where its ranks stood: in
// calls, or between two runs.
TEST_F(RanksTest, ACaseOfARankThatHangsNamesTheCallsOfAll) {
  if (!HasMpi()) GTEST_SKIP() << "found no MPI";
  Begin("--timeout 10 --repeats 0");
  ASSERT_TRUE(Wait([&] { return HasCalls(); }));
  Shell("pkill -STOP -n -f -- '[a]ssay-worker ", folder_.string(), "'");
  ASSERT_TRUE(
      Wait([&] { return Shell("kill -0 $(cat pid) 2>&1").output != ""; }));
  const std::string results = Text("out/results.csv");
  // No rank is in a call where the signal comes between two runs.
  EXPECT_THAT(results, ContainsRegex("over the time limit of 10 s; (rank 0|no "
                                     "rank is in a call|no rank has begun)"));
}

// Kills: output of a rank that is lost with it, or cannot be told from that of
// others.
TEST_F(RanksTest, ARankThatCrashesCostsItsCaseAloneAndHasALog) {
  if (!HasMpi()) GTEST_SKIP() << "found no MPI";
  const std::string mine = StrCat("assay-worker ", folder_.string());
  Begin();
  ASSERT_TRUE(Wait([&] { return HasCalls(); }));
  Shell("pkill -SEGV -n -f -- '[a]", mine.substr(1), "'");
  ASSERT_TRUE(
      Wait([&] { return Shell("kill -0 $(cat pid) 2>&1").output != ""; }));
  const std::string log = Text("log");
  EXPECT_THAT(log, HasSubstr("openmpi on distributed: "));
  EXPECT_THAT(log, HasSubstr("unexpected: 1"));
  EXPECT_THAT(log, HasSubstr("see openmpi.1.log and openmpi.1.rank*.log"));
  EXPECT_THAT(log, Not(HasSubstr("missing")));
  // Open MPI prints where the signal was.
  const Ran told =
      Shell("grep -l 'Segmentation fault' out/records/openmpi.1.rank*.log");
  EXPECT_THAT(told.output,
              ContainsRegex("^out/records/openmpi\\.1\\.rank[0-9]\\.log\n$"));
}

}  // namespace
}  // namespace assay::run

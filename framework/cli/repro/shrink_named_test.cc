// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_named.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/cli/program_fixture.h"

namespace assay::repro {
namespace {

using ::testing::HasSubstr;

class ShrinkNamedTest : public cli::ProgramTest {
 protected:
  cli::Ran Shrink(const std::string& test_id, const std::string& backend,
                  const std::string& more = "") const {
    return Assay("shrink '", test_id, "' --backend ", backend, " ", more,
                 " --out small");
  }
};

// The smallest sizes follow from the mutants' code, backends/threads/mutants.
TEST_F(ShrinkNamedTest, LeavesTheFewestRanksStepsAndElements) {
  const struct {
    const char* mutant;
    const char* test_id;
    const char* left;
    const char* after;
    const char* reason;
    const char* message;
  } rows[] = {
      // Rank 2 of 3 is the first beyond a power of two. It has 75, the others 1
      // and 38.
      {"ranks_beyond_a_power_not_added",
       "distributed/allreduce/own.float32.sum.1021#n7",
       "distributed/allreduce/own.float32.sum.1#n3", "3 ranks, 1 elements",
       "fail_bits", "rank 0, element 0: found 39, wanted 114"},
      // The second call of any rank, one alone among them, shows the first
      // one's sum.
      {"call_before_shown", "distributed/train_all_reduce/own.momentum#n4",
       "distributed/train_all_reduce/own.momentum#n1.steps2",
       "1 ranks, 2 steps", "fail_bits", "rank 0, step 2, w"},
      // Messages are there from 2 ranks on, also without elements. A ring of
      // two has two of each rank.
      {"messages_in_halves", "distributed/allreduce/ring.float32.sum.16#n4",
       "distributed/allreduce/ring.float32.sum.0#n2", "2 ranks, 0 elements",
       "fail_cost", "rank 0: found 0 bytes in 4 messages"},
      // A half of all ranks is a rank at least.
      {"split_ignores_colors",
       "distributed/allreduce/own_split.float32.sum.61#n8",
       "distributed/allreduce/own_split.float32.sum.0#n2",
       "2 ranks, 0 elements", "fail_ranks", "wanted 0 of 1"},
  };
  for (const auto& row : rows) {
    const std::string backend = StrCat("threads+mutant=", row.mutant);
    const cli::Ran ran = Shrink(row.test_id, backend);
    ASSERT_EQ(ran.exit_code, 0) << ran.output;
    const auto json = JsonIn("small/case.json");
    EXPECT_EQ(json.at("test_id"), row.left) << ran.output;
    EXPECT_EQ(json.at("reason_code"), row.reason);
    EXPECT_THAT(json.at("message").get<std::string>(), HasSubstr(row.message));
    EXPECT_EQ(json.at("history").at("after"), row.after);
    EXPECT_EQ(json.at("history").at("shrunk from"), row.test_id);
    EXPECT_EQ(json.at("history").at("right by"), "threads");
    // A plan has no case of that name, and it runs.
    const std::string command = StrCat("assay run --backend ", backend,
                                       " --filter 'id:", row.left, "'");
    EXPECT_THAT(ran.output, HasSubstr(command));
    EXPECT_THAT(Text("small/README.txt"), HasSubstr(command));
    const cli::Ran again =
        Assay(command.substr(6), " --repeats 0 --no-report --out again");
    EXPECT_EQ(again.exit_code, 1) << again.output;
    EXPECT_EQ(Outcomes("again")[row.left], "fail") << again.output;
    // One that was run by its name goes on, too.
    Assay("run --resume again --no-report");
    EXPECT_EQ(Outcomes("again")[row.left], "fail");
    for (const char* folder : {"small", "again"}) {
      std::filesystem::remove_all(folder_ / folder);
    }
  }
}

// Kills: a candidate that fails wherever it runs.
TEST_F(ShrinkNamedTest, ACandidateMustPassWhereTheCaseDoes) {
  const cli::Ran ran = Shrink("distributed/allreduce/own.float32.sum.16#n4",
                              "threads+mutant=last_element_not_added",
                              "--oracle threads+mutant=one_rank_refused");
  ASSERT_EQ(ran.exit_code, 0) << ran.output;
  EXPECT_EQ(JsonIn("small/case.json").at("history").at("after"),
            "2 ranks, 1 elements")
      << ran.output;
  std::filesystem::remove_all(folder_ / "small");
  const cli::Ran same = Shrink("distributed/allreduce/own.float32.sum.16#n4",
                               "threads+mutant=last_element_not_added",
                               "--oracle threads+mutant=sum_is_a_maximum");
  ASSERT_EQ(same.exit_code, 0) << same.output;
  EXPECT_THAT(
      JsonIn("small/case.json").at("history").at("right by").get<std::string>(),
      HasSubstr("it fails on threads+mutant=sum_is_a_maximum in the same way"));
}

TEST_F(ShrinkNamedTest, SaysWhyThereIsNothingToShrink) {
  const struct {
    const char* test_id;
    const char* backend;
    const char* says;
  } rows[] = {
      {"distributed/allreduce/own.float32.sum.5#n3", "threads",
       "is pass when it runs alone"},
      // None of the plan, but less than one of it.
      {"distributed/allreduce/own.float32.sum.6#n6", "threads",
       "is pass when it runs alone"},
      {"distributed/allreduce/own.float32.sum.500000#n3", "threads",
       "found 500000 elements, wanted 0 to 262146 with 3 ranks"},
      {"distributed/allreduce/mine.float32.sum.5#n3", "threads",
       "found 'mine' behind distributed allreduce, wanted binomial or "},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(Shrink(row.test_id, row.backend), cli::Ended(2, row.says));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "small"));
  }
}

}  // namespace
}  // namespace assay::repro

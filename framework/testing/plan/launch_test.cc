// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "framework/core/text.h"
#include "framework/file/scratch_folder.h"

namespace assay::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<Launch> Read(const std::string& text) {
  const file::ScratchFolder folder;
  folder.Write("launch.txt", text);
  return ReadLaunch(folder.path());
}

TEST(LaunchTest, NamesItsTransport) {
  const auto launch = Read("# how\n\ntransport threads\n");
  ASSERT_TRUE(launch.ok()) << launch.status().ToString();
  EXPECT_EQ(launch->transport, "threads");
}

constexpr char kLaunched[] =
    "transport mpi\nmost 8\nlauncher run -n {ranks} --tag {ranks}\n"
    "rank THE_RANK\nenvironment ROOM={scratch}/a:{scratch}/b\n";

TEST(LaunchTest, TheCommandHasItsRanksAndItsScratch) {
  const auto launch = Read(kLaunched);
  ASSERT_TRUE(launch.ok()) << launch.status().ToString();
  EXPECT_EQ(launch->most, 8);
  EXPECT_EQ(launch->rank, "THE_RANK");
  EXPECT_THAT(CommandOf(*launch, 4, "/s"),
              ElementsAre("/usr/bin/env", "ROOM=/s/a:/s/b", "run", "-n", "4",
                          "--tag", "4"));
  EXPECT_THAT(CommandOf(*Read("transport threads\n"), 4, "/s"), IsEmpty());
}

TEST(LaunchTest, AFolderWithoutOneHasNoRanks) {
  const auto launch = ReadLaunch("/nowhere");
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->transport, "");
}

// Kills: a rank that takes itself for the first one, and judges as well.
TEST(LaunchTest, AProcessHasTheRankThatItsLauncherSays) {
  EXPECT_EQ(OwnRank("").value(), 0);
  ASSERT_EQ(setenv("ASSAY_TEST_RANK", "3", /*replace=*/1), 0);
  EXPECT_EQ(OwnRank("ASSAY_TEST_RANK").value(), 3);
  for (const char* wrong : {"", "-1", "third", "3.5"}) {
    ASSERT_EQ(setenv("ASSAY_TEST_RANK", wrong, /*replace=*/1), 0);
    const Status status = OwnRank("ASSAY_TEST_RANK").status();
    EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition) << wrong;
    EXPECT_EQ(status.message(), StrCat("found ASSAY_TEST_RANK to be '", wrong,
                                       "', wanted the rank of this process"));
  }
  unsetenv("ASSAY_TEST_RANK");
  EXPECT_FALSE(OwnRank("ASSAY_TEST_RANK").ok());
}

TEST(LaunchTest, RanksThatAreProcessesPrintIntoLogsOfTheirOwn) {
  EXPECT_EQ(LogOfRank("records/acme+a=1.5.1.journal", 12),
            "records/acme+a=1.5.1.rank12.log");
  EXPECT_EQ(LogNames(*Read("transport threads\n"), "acme.1"), "acme.1.log");
  EXPECT_EQ(LogNames(*Read("transport a\nlauncher run\nrank R\n"), "acme.1"),
            "acme.1.log and acme.1.rank*.log");
}

TEST(LaunchTest, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(Read("# how\nranks 4\n").status().message(),
              HasSubstr("launch.txt:2: found 'ranks 4', wanted"));
  EXPECT_THAT(Read("transport\n").status().message(),
              HasSubstr("launch.txt:1: found 'transport', wanted"));
  EXPECT_THAT(Read("transport a\ntransport b\n").status().message(),
              HasSubstr("launch.txt:2: found 'transport b'"));
  EXPECT_THAT(Read("# nothing\n").status().message(),
              HasSubstr("found no transport, wanted 'transport NAME'"));
  EXPECT_THAT(Read("transport a\nmost 0\n").status().message(),
              HasSubstr("launch.txt:2: found 'most 0'"));
  EXPECT_THAT(Read("transport a\nlauncher run\n").status().message(),
              HasSubstr("found a launcher, wanted both"));
  EXPECT_THAT(Read("transport a\nrank R\n").status().message(),
              HasSubstr("found a rank, wanted both"));
}

}  // namespace
}  // namespace assay::plan

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "framework/file/scratch_folder.h"

namespace assay::plan {
namespace {

using ::testing::HasSubstr;

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

TEST(LaunchTest, AFolderWithoutOneHasNoRanks) {
  const auto launch = ReadLaunch("/nowhere");
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->transport, "");
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
}

}  // namespace
}  // namespace assay::plan

// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a journal's file, and the descriptors that it is reached by.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/journal/journal.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Status Poll(JournalReader& reader) {
  return reader.Poll([](const JournalEntry&) {});
}

// Kills: a byte between the fields; a checksum that is not FNV-1a, of which
// 0x1EAB5E32 is that of "Plan".
TEST(JournalFileTest, AFrameIsLengthChecksumKindAndPayload) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  ASSERT_TRUE(Journal::Open(file, "lan").ok());
  const std::string wanted("\3\0\0\0\x32\x5E\xAB\x1EPlan", 12);
  EXPECT_EQ(*file::ReadFile(file), wanted);
}

// Kills: a length that is trusted; a frame that is as long as one may be and
// not waited for.
TEST(JournalFileTest, AFrameHasAtMost64MiB) {
  constexpr uint32_t kMost = 64U << 20U;
  const file::ScratchFolder folder;
  for (const uint32_t length : {kMost, kMost + 1}) {
    std::string head(9, 'P');
    std::memcpy(head.data(), &length, sizeof length);
    JournalReader reader(folder.Write("a.journal", head));
    EXPECT_EQ(Poll(reader).code(),
              length == kMost ? StatusCode::kOk : StatusCode::kDataLoss);
    EXPECT_EQ(reader.offset(), 0);
  }
}

// Kills: an end that is cut off behind what was read.
TEST(JournalFileTest, AJournalThatLostAByteIsDataLoss) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  ASSERT_TRUE(Journal::Open(file, "lan").ok());
  JournalReader reader(file);
  ASSERT_TRUE(Poll(reader).ok());
  fs::resize_file(file, 11);
  const Status status = Poll(reader);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(),
              HasSubstr("has 11 bytes, where 12 had been read"));
}

// Kills: a frame whose bytes changed that is waited for.
TEST(JournalFileTest, AWholeFrameOfAnotherChecksumIsDataLoss) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  ASSERT_TRUE(Journal::Open(file, "lan").ok());
  std::string bytes = *file::ReadFile(file);
  bytes.back() = 'm';
  JournalReader reader(folder.Write("changed.journal", bytes));
  const Status status = Poll(reader);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(status.message(),
              HasSubstr("at byte 0: the checksum does not match"));
}

// Kills: a journal that others may change, or that is a program.
TEST(JournalFileTest, ItsOwnerAloneWritesIt) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  const mode_t mask = umask(0);
  const bool opened = Journal::Open(file).ok();
  umask(mask);
  ASSERT_TRUE(opened);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644));
}

// Kills: descriptor 0 taken for none, in a process without standard input.
TEST(JournalFileTest, StandardInputIsNotNeeded) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  const int input = dup(0);
  close(0);
  const bool written = Journal::Open(file, "lan").ok();
  JournalReader reader(file);
  const Status read = Poll(reader);
  dup2(input, 0);
  close(input);
  EXPECT_TRUE(written);
  EXPECT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(reader.offset(), 12);
}

// Kills: a journal at a descriptor that others close by its number.
TEST(JournalFileTest, LowDescriptorsAreLeftToOthers) {
  const file::ScratchFolder folder;
  const int before = dup(0);
  close(before);
  const Result<Journal> journal = Journal::Open(folder.path() / "a.journal");
  const int after = dup(0);
  close(after);
  EXPECT_TRUE(journal.ok());
  EXPECT_EQ(before, after);
}

// Kills: no journal where no high descriptor is left.
TEST(JournalFileTest, ALowDescriptorServesWhereTheHighOnesAreTaken) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  rlimit few = limit;
  few.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<int> taken;
  for (int high = fcntl(0, F_DUPFD, 56); high >= 0;
       high = fcntl(0, F_DUPFD, 56)) {
    taken.push_back(high);
  }
  const bool opened = Journal::Open(file, "lan").ok();
  setrlimit(RLIMIT_NOFILE, &limit);
  for (const int high : taken) close(high);
  EXPECT_TRUE(opened);
  EXPECT_EQ(fs::file_size(file), 12U);
}

// Kills: a descriptor of others closed by a journal that has none any more.
TEST(JournalFileTest, AJournalThatIsGoneClosesNothing) {
  const file::ScratchFolder folder;
  const fs::path file = folder.path() / "a.journal";
  const int input = fcntl(0, F_GETFD);
  int high = 0;
  {
    Result<Journal> journal = Journal::Open(file);
    ASSERT_TRUE(journal.ok()) << journal.status().ToString();
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      high = std::max(high, std::stoi(entry.path().filename()));
    }
    fs::remove(file);
    const int other = open(folder.path().c_str(), O_RDONLY);
    ASSERT_EQ(dup2(other, high), high);
    close(other);
    EXPECT_FALSE(journal->Begin("node/Abs/a").ok());
  }
  EXPECT_EQ(fcntl(0, F_GETFD), input);
  EXPECT_EQ(close(high), 0) << "it was another's";
}

}  // namespace
}  // namespace assay::journal

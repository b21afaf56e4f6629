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
#include <vector>

#include "framework/file/file.h"
#include "framework/file/scratch_folder.h"
#include "framework/testing/journal/journal.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;

class JournalFileTest : public testing::Test {
 protected:
  const file::ScratchFolder folder_;
  const fs::path file_ = folder_.path() / "a.journal";
};

Status Poll(JournalReader& reader) {
  return reader.Poll([](const JournalEntry&) {});
}

// Kills: a byte between the fields; a checksum that is not FNV-1a, of which
// 0x1EAB5E32 is that of "Plan".
TEST_F(JournalFileTest, AFrameIsLengthChecksumKindAndPayload) {
  ASSERT_TRUE(Journal::Open(file_, "lan").ok());
  const std::string wanted("\3\0\0\0\x32\x5E\xAB\x1EPlan", 12);
  EXPECT_EQ(*file::ReadFile(file_), wanted);
}

// Kills: a length that is trusted; a frame that is as long as one may be and
// not waited for.
TEST_F(JournalFileTest, AFrameHasAtMost64MiB) {
  constexpr uint32_t kMost = 64U << 20U;
  for (const uint32_t length : {kMost, kMost + 1}) {
    std::string head(9, 'P');
    std::memcpy(head.data(), &length, sizeof length);
    JournalReader reader(folder_.Write("a.journal", head));
    EXPECT_EQ(Poll(reader).code(),
              length == kMost ? StatusCode::kOk : StatusCode::kDataLoss);
    EXPECT_EQ(reader.offset(), 0);
  }
}

// Kills: an end that is cut off behind what was read.
TEST_F(JournalFileTest, AJournalThatLostAByteIsDataLoss) {
  ASSERT_TRUE(Journal::Open(file_, "lan").ok());
  JournalReader reader(file_);
  ASSERT_TRUE(Poll(reader).ok());
  fs::resize_file(file_, 11);
  EXPECT_THAT(Poll(reader), IsStatus(StatusCode::kDataLoss,
                                     "has 11 bytes, where 12 had been read"));
}

// Kills: a frame whose bytes changed that is waited for.
TEST_F(JournalFileTest, AWholeFrameOfAnotherChecksumIsDataLoss) {
  ASSERT_TRUE(Journal::Open(file_, "lan").ok());
  std::string bytes = *file::ReadFile(file_);
  bytes.back() = 'm';
  JournalReader reader(folder_.Write("changed.journal", bytes));
  EXPECT_THAT(Poll(reader), IsStatus(StatusCode::kDataLoss,
                                     "at byte 0: the checksum does not match"));
}

// Kills: a frame of no kind that is passed over.
TEST_F(JournalFileTest, AFrameOfAnUnknownKindIsDataLoss) {
  const std::string bytes(
      "\3\0\0\0\xD1\x77\x24\x94"
      "?lan",
      12);
  JournalReader reader(folder_.Write("unknown.journal", bytes));
  EXPECT_THAT(Poll(reader), IsStatus(StatusCode::kDataLoss,
                                     "at byte 0: a frame of unknown kind 63"));
}

// Kills: a journal that others may change, or that is a program.
TEST_F(JournalFileTest, ItsOwnerAloneWritesIt) {
  const mode_t mask = umask(0);
  const bool opened = Journal::Open(file_).ok();
  umask(mask);
  ASSERT_TRUE(opened);
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms(0644));
}

// Kills: descriptor 0 taken for none, in a process without standard input.
TEST_F(JournalFileTest, StandardInputIsNotNeeded) {
  const int input = dup(0);
  close(0);
  const bool written = Journal::Open(file_, "lan").ok();
  JournalReader reader(file_);
  const Status read = Poll(reader);
  dup2(input, 0);
  close(input);
  EXPECT_TRUE(written);
  EXPECT_TRUE(read.ok()) << read.ToString();
  EXPECT_EQ(reader.offset(), 12);
}

// Kills: a journal at a descriptor that others close by its number.
TEST_F(JournalFileTest, LowDescriptorsAreLeftToOthers) {
  const int before = dup(0);
  close(before);
  const Result<Journal> journal = Journal::Open(file_);
  const int after = dup(0);
  close(after);
  EXPECT_TRUE(journal.ok());
  EXPECT_EQ(before, after);
}

// Kills: no journal where no high descriptor is left.
TEST_F(JournalFileTest, ALowDescriptorServesWhereTheHighOnesAreTaken) {
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
  const bool opened = Journal::Open(file_, "lan").ok();
  setrlimit(RLIMIT_NOFILE, &limit);
  for (const int high : taken) close(high);
  EXPECT_TRUE(opened);
  EXPECT_EQ(fs::file_size(file_), 12U);
}

// Kills: a descriptor of others closed by a journal that has none any more.
TEST_F(JournalFileTest, AJournalThatIsGoneClosesNothing) {
  const int input = fcntl(0, F_GETFD);
  int high = 0;
  {
    Journal journal = Got(Journal::Open(file_));
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      high = std::max(high, std::stoi(entry.path().filename()));
    }
    fs::remove(file_);
    const int other = open(folder_.path().c_str(), O_RDONLY);
    ASSERT_EQ(dup2(other, high), high);
    close(other);
    EXPECT_FALSE(journal.Begin("node/Abs/a").ok());
  }
  EXPECT_EQ(fcntl(0, F_GETFD), input);
  EXPECT_EQ(close(high), 0) << "it was another's";
}

}  // namespace
}  // namespace assay::journal

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/journal/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "framework/file/scratch_folder.h"
#include "framework/testing/record/tables.h"
#include "framework/testing/support/statuses_fixture.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

record::Record SomeRecord(const std::string& test_id, int outputs) {
  record::Record record;
  record.result.test_id = test_id;
  record.result.outcome = record::Outcome::kFail;
  record.result.message = "wanted \"1, 2\",\ngot 3";
  record.result.headroom = -0.5;
  for (int i = 0; i < outputs; ++i) {
    record::AccuracyRow row;
    row.output_index = i;
    row.output_name = "a, \"b\"";
    row.max_abs_err = 0.1 * i;
    record.Add(row);
  }
  return record;
}

// All that an entry holds, as one text.
std::string TextOf(const JournalEntry& entry) {
  std::string text =
      StrCat(static_cast<char>(entry.kind), " ", entry.text, "|");
  record::AppendCsvRow(text, entry.backend);
  record::AppendCsvRow(text, entry.record.result);
  const auto rows = entry.record.Rows<record::AccuracyRow>();
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  for (const record::AccuracyRow& row : *rows) record::AppendCsvRow(text, row);
  return text;
}

class RecordTest : public testing::Test {
 protected:
  const file::ScratchFolder folder_;
  const fs::path file_ = folder_.path() / "a.journal";
};

struct Read {
  std::vector<std::string> entries;
  Status status;
};

Read ReadJournal(const fs::path& file) {
  Read read;
  JournalReader reader(file);
  read.status = reader.Poll([&](const JournalEntry& entry) {
    read.entries.push_back(TextOf(entry));
  });
  return read;
}

// A journal with a frame of each kind; returns what its entries should be.
std::vector<std::string> WriteJournal(const fs::path& file) {
  Result<Journal> journal = Journal::Open(file);
  EXPECT_TRUE(journal.ok()) << journal.status().ToString();
  std::vector<JournalEntry> entries(7);
  entries[0].kind = FrameKind::kBackend;
  entries[0].backend.backend = "acme+threads=2";
  entries[0].backend.unavailable_reason = "no \"device\", none";
  entries[1].kind = FrameKind::kBegin;
  entries[1].text = "node/Abs/test_abs";
  entries[2].kind = FrameKind::kRecord;
  entries[2].record = SomeRecord("node/Abs/test_abs", 2);
  entries[3].kind = FrameKind::kEnded;
  entries[3].text = "bind or forward";
  entries[4].kind = FrameKind::kRecord;
  entries[4].record = SomeRecord("node/If/test_if", 0);
  entries[5].kind = FrameKind::kBatchEnd;
  entries[6].kind = FrameKind::kFault;
  entries[6].text = "a test of its own failed";
  EXPECT_TRUE(journal->Append(entries[0].backend).ok());
  EXPECT_TRUE(journal->Begin(entries[1].text).ok());
  EXPECT_TRUE(journal->Append(entries[2].record).ok());
  EXPECT_TRUE(journal->Ended(/*pid=*/7, /*status=*/9, entries[3].text).ok());
  EXPECT_TRUE(journal->Append(entries[4].record).ok());
  EXPECT_TRUE(journal->Write(FrameKind::kBatchEnd).ok());
  EXPECT_TRUE(journal->Write(FrameKind::kFault, entries[6].text).ok());
  std::vector<std::string> texts;
  for (const JournalEntry& entry : entries) texts.push_back(TextOf(entry));
  return texts;
}

std::string Bytes(const fs::path& file) { return Got(file::ReadFile(file)); }

/// Does the same as a session after a worker: reads, then cuts off a torn tail.
Result<std::vector<JournalEntry>> Recovered(const fs::path& file) {
  std::vector<JournalEntry> entries;
  JournalReader reader(file);
  ASSAY_RETURN_IF_ERROR(reader.Poll(
      [&](JournalEntry entry) { entries.push_back(std::move(entry)); }));
  ASSAY_RETURN_IF_ERROR(reader.CutTornTail());
  return entries;
}

// Kills: a frame kind that writes nothing or is read as another; accuracy rows
// dropped.
TEST_F(RecordTest, AJournalGivesBackWhatWasWritten) {
  const auto wanted = WriteJournal(file_);
  const Read read = ReadJournal(file_);
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_EQ(read.entries, wanted);
}

// Kills: bytes lost where one read ends and the next begins.
TEST_F(RecordTest, FramesOfAnyLengthAreRead) {
  for (size_t size = BUFSIZ - 16; size < BUFSIZ + 8; ++size) {
    const fs::path file = folder_.path() / StrCat(size);
    const std::string plan(size, 'x');
    ASSERT_TRUE(Journal::Open(file, plan).ok());
    EXPECT_EQ(Recovered(file)->at(0).text, plan) << size;
  }
}

TEST_F(RecordTest, AJournalThatDoesNotExistIsEmpty) {
  const Read read = ReadJournal(folder_.path() / "none");
  EXPECT_TRUE(read.status.ok()) << read.status.ToString();
  EXPECT_TRUE(read.entries.empty());
  EXPECT_THAT(ReadJournal(folder_.path()).status.message(),
              HasSubstr("Is a directory"));
}

int64_t OpenFiles() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), {});
}

// Kills: handing over a frame twice, or half of one, while it grows; a poll
// that leaves the file open.
TEST_F(RecordTest, AFollowedJournalHandsEachFrameOverOnce) {
  const auto wanted = WriteJournal(file_);
  const std::string bytes = Bytes(file_);
  const fs::path file = folder_.path() / "growing";
  JournalReader reader(file);
  const int64_t open_files = OpenFiles();
  std::vector<std::string> entries;
  for (size_t size = 0; size < bytes.size() + 7; size += 7) {
    folder_.Write("growing", bytes.substr(0, size));
    const Status status = reader.Poll(
        [&](const JournalEntry& entry) { entries.push_back(TextOf(entry)); });
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(entries, wanted);
  EXPECT_EQ(reader.offset(), static_cast<int64_t>(bytes.size()));
  EXPECT_EQ(OpenFiles(), open_files);
}

// Kills: a torn frame read as a whole one or called a loss; a recovery that
// keeps torn bytes, or cuts whole frames off.
TEST_F(RecordTest, ATailTornAtAnyByteIsCutOffAndWrittenOn) {
  const auto wanted = WriteJournal(file_);
  const std::string bytes = Bytes(file_);
  const fs::path torn = folder_.path() / "torn";
  size_t whole = 0;
  for (size_t size = 0; size <= bytes.size(); ++size) {
    folder_.Write("torn", bytes.substr(0, size));
    const auto recovered = Got(Recovered(torn));
    ASSERT_GE(recovered.size(), whole) << "fewer frames in more bytes";
    whole = recovered.size();
    ASSERT_LE(fs::file_size(torn), size);
    ASSERT_TRUE(Journal::Open(torn)->Begin("next").ok());
    const Read read = ReadJournal(torn);
    ASSERT_TRUE(read.status.ok()) << size << ": " << read.status.ToString();
    ASSERT_EQ(read.entries.size(), whole + 1) << size;
    for (size_t i = 0; i < whole; ++i) EXPECT_EQ(read.entries[i], wanted[i]);
  }
  EXPECT_EQ(whole, wanted.size());
}

TEST_F(RecordTest, WhatIsWholeOrNotThereNeedsNoCut) {
  EXPECT_TRUE(JournalReader(folder_.path() / "none").CutTornTail().ok());
}

/// The only descriptor of a file, or -1.
int DescriptorOf(const fs::path& file) {
  int found = -1;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    if (fs::read_symlink(entry.path(), gone) != file) continue;
    EXPECT_EQ(found, -1) << "open twice";
    found = std::stoi(entry.path().filename());
  }
  return found;
}

// Kills: a descriptor in reach of a module that closes those that it does not
// know; a limit of descriptors that makes it a low one.
TEST_F(RecordTest, AJournalHasOneHighDescriptor) {
  struct rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (const rlim_t most : {limit.rlim_cur, rlim_t{256}}) {
    const struct rlimit lower = {most, limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &lower), 0);
    const auto journal = Got(Journal::Open(file_));
    EXPECT_GE(DescriptorOf(file_), std::min<rlim_t>(4000, most - most / 8));
  }
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Kills: a checksum that leaves out the kind or part of the payload.
TEST_F(RecordTest, NoFlippedBitPassesAsARecord) {
  const auto wanted = WriteJournal(file_);
  const std::string bytes = Bytes(file_);
  // Steps of 5 come to all 8 places and to every byte or its neighbour.
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    std::string flipped = bytes;
    flipped[bit / 8] =
        static_cast<char>(flipped[bit / 8] ^ static_cast<char>(1 << (bit % 8)));
    const Read read = ReadJournal(folder_.Write("flipped", flipped));
    // A length that grew looks like a frame that is not complete yet.
    ASSERT_LT(read.entries.size(), wanted.size()) << "bit " << bit;
    for (size_t i = 0; i < read.entries.size(); ++i) {
      ASSERT_EQ(read.entries[i], wanted[i]) << "bit " << bit;
    }
  }
}

// Kills: trusting the length of a file that is no journal.
TEST_F(RecordTest, AForeignFileIsDataLossWithItsName) {
  for (const std::string_view text :
       {"test_id,outcome\nnode/Abs/test_abs,pass\n",
        "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"}) {
    const fs::path file = folder_.Write("results.csv", text);
    const Read read = ReadJournal(file);
    EXPECT_THAT(read.status,
                IsStatus(StatusCode::kDataLoss, file.string() + " at byte 0"));
    EXPECT_TRUE(read.entries.empty());
    EXPECT_FALSE(Recovered(file).ok());
    EXPECT_EQ(Bytes(file), text) << "a foreign file was cut";
  }
}

// Kills: a plan that is named twice, or behind a record.
TEST_F(RecordTest, TheFirstFrameNamesThePlanOnce) {
  ASSERT_TRUE(Journal::Open(file_, "digest")->Begin("first").ok());
  ASSERT_TRUE(Journal::Open(file_, "digest")->Begin("second").ok());
  ASSERT_TRUE(Journal::Open(file_)->Begin("third").ok());
  const auto entries = Got(Recovered(file_));
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries.front().kind, FrameKind::kPlan);
  EXPECT_EQ(entries.front().text, "digest");
}

// Kills: a run that is lost with its last page; a whole frame that is cut off;
// a file that is no journal and gets cut.
TEST_F(RecordTest, ATailThatIsNoRecordIsCutOffAndTheRestStays) {
  const auto wanted = WriteJournal(file_);
  const std::string whole = Bytes(file_);
  std::string last_page_zeroed = whole;
  last_page_zeroed.replace(whole.size() - 40, 40, 40, '\0');
  const struct {
    const char* name;
    std::string bytes;
    size_t frames;
  } rows[] = {
      {"whole", whole, wanted.size()},
      {"zeros behind", whole + std::string(4096, '\0'), wanted.size()},
      {"letters behind", whole + std::string(4096, 'x'), wanted.size()},
      {"end zeroed", last_page_zeroed, wanted.size() - 2},
      {"all zeros", std::string(4096, '\0'), 0},
      {"empty", "", 0},
  };
  for (const auto& row : rows) {
    const fs::path file = folder_.Write("damaged", row.bytes);
    const Result<int64_t> cut = RecoverJournal(file);
    ASSERT_TRUE(cut.ok()) << row.name << cut.status().ToString();
    EXPECT_EQ(*cut,
              static_cast<int64_t>(row.bytes.size() - fs::file_size(file)))
        << row.name;
    const Read read = ReadJournal(file);
    EXPECT_TRUE(read.status.ok()) << row.name << read.status.ToString();
    EXPECT_EQ(read.entries.size(), row.frames) << row.name;
    EXPECT_TRUE(Journal::Open(file)->Begin("next").ok());
  }
  const fs::path foreign =
      folder_.Write("foreign", "test_id,outcome\nx,pass\n");
  EXPECT_EQ(RecoverJournal(foreign).status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(fs::file_size(foreign), 23U);
}

// Kills: a message that fills the disk, or that the reader refuses for its
// length; one that ends the page.
TEST_F(RecordTest, WhatABackendSaysIsCutAndCleanedOnItsWayIn) {
  record::Record record = SomeRecord("node/Abs/a", 1);
  record.result.message = std::string(70U << 20U, '\xFF');
  record::AccuracyRow row;
  row.worst_got = std::string("\0\x1B", 2);
  record.Add(row);
  record::BackendRow backend;
  backend.version = std::string(1U << 20U, 'v');
  backend.device = "\xFC";
  Result<Journal> journal = Journal::Open(file_);
  ASSERT_TRUE(journal->Append(backend).ok());
  ASSERT_TRUE(journal->Append(record).ok());
  const auto entries = Got(Recovered(file_));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_LT(fs::file_size(file_), 10U << 10U);
  EXPECT_EQ(entries[0].backend.device, "?");
  EXPECT_THAT(entries[1].record.result.message, HasSubstr("????"));
  const auto rows = entries[1].record.Rows<record::AccuracyRow>();
  ASSERT_TRUE(rows.ok() && rows->size() == 2);
  EXPECT_EQ(rows->at(1).worst_got, "??");
}

// Kills: a writer that truncates, or that writes where it was when it opened.
TEST_F(RecordTest, WritersThatFollowEachOtherAppend) {
  Result<Journal> first = Journal::Open(file_);
  Result<Journal> second = Journal::Open(file_);
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<std::string> wanted;
  for (int i = 0; i < 6; ++i) {
    JournalEntry entry;
    entry.kind = FrameKind::kRecord;
    entry.record = SomeRecord(StrCat("node/Abs/test_", i), i);
    ASSERT_TRUE((i % 2 == 0 ? *first : *second).Append(entry.record).ok());
    wanted.push_back(TextOf(entry));
  }
  EXPECT_EQ(ReadJournal(file_).entries, wanted);
}

/// Runs what closes descriptors in a process of its own: other tests, too, have
/// some that are open.
void RunApart(const std::function<void()>& test) {
  const pid_t child = fork();
  if (child == 0) {
    test();
    _exit(testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// Things that a backend may do to the descriptors of its process.
const struct {
  const char* name;
  void (*make)(const fs::path& folder);
} kTakenDescriptors[] = {
    {"all closed", [](const fs::path&) { closefrom(3); }},
    {"all reused",
     [](const fs::path& folder) {
       const int other =
           open((folder / "other").c_str(), O_WRONLY | O_CREAT, 0644);
       for (int fd = 3; fd < 8192; ++fd) dup2(other, fd);
     }},
    {"in another place",
     [](const fs::path&) {
       closefrom(3);
       ASSERT_EQ(chdir("/"), 0);
     }},
};

// Kills: a descriptor that is trusted although somebody closed or reused it; a
// path that is followed from another working directory; a repair unsaid.
TEST_F(RecordTest, AJournalWhoseDescriptorIsTakenIsOpenedAgain) {
  const auto is_opened_again = [](const auto& row) {
    const file::ScratchFolder folder;
    fs::current_path(folder.path());
    Journal journal = Got(Journal::Open("a.journal"));
    ASSERT_TRUE(journal.Begin("first").ok());
    EXPECT_FALSE(*journal.Repair()) << row.name;
    row.make(folder.path());
    ASSERT_TRUE(journal.Begin("second").ok()) << row.name;
    closefrom(3);
    row.make(folder.path());
    const bool repaired = Got(journal.Repair());
    EXPECT_TRUE(repaired) << row.name;
    EXPECT_FALSE(*journal.Repair()) << row.name;
    closefrom(3);
    EXPECT_EQ(ReadJournal(folder.path() / "a.journal").entries.size(), 2U);
    if (fs::exists(folder.path() / "other")) {
      EXPECT_EQ(fs::file_size(folder.path() / "other"), 0U) << row.name;
    }
    fs::current_path("/");
  };
  for (const auto& row : kTakenDescriptors) {
    RunApart([&] { is_opened_again(row); });
  }
}

// Kills: a journal written on under another file's name.
TEST_F(RecordTest, AJournalThatWasReplacedOrRemovedIsSaid) {
  RunApart([&] {
    Result<Journal> journal = Journal::Open(file_);
    ASSERT_TRUE(journal->Begin("first").ok());
    JournalReader reader(file_);
    ASSERT_TRUE(reader.Poll([](const JournalEntry&) {}).ok());
    const fs::path beside = folder_.Write("beside", "x");
    fs::remove(file_);
    closefrom(3);
    EXPECT_FALSE(journal->Begin("second").ok());
    EXPECT_FALSE(reader.Poll([](const JournalEntry&) {}).ok());
    fs::rename(beside, file_);
    EXPECT_EQ(journal->Begin("second").code(), StatusCode::kDataLoss);
    const int64_t open_files = OpenFiles();
    const Status read = reader.Poll([](const JournalEntry&) {});
    EXPECT_EQ(OpenFiles(), open_files);
    EXPECT_THAT(read, IsStatus(StatusCode::kDataLoss, "has 1 bytes, where"));
  });
}

// Kills: a forked child whose frames go among those of its parent.
TEST_F(RecordTest, OnlyTheProcessThatOpenedAJournalWritesToIt) {
  Result<Journal> journal = Journal::Open(file_);
  const auto child = [&](bool take_over) {
    const pid_t pid = fork();
    if (pid == 0) {
      if (take_over) journal->TakeOver();
      _exit(journal->Begin("child").ok() ? 1 : 0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(child(/*take_over=*/false), 0);
  EXPECT_TRUE(ReadJournal(file_).entries.empty());
  EXPECT_EQ(child(/*take_over=*/true), 1);
  EXPECT_EQ(ReadJournal(file_).entries.size(), 1U);
}

// Kills: a loss taken for the verdict of a case.
TEST_F(RecordTest, ARecordWithoutACaseIsALoss) {
  record::Record loss;
  loss.result.backend = "acme";
  loss.result.outcome = record::Outcome::kCrash;
  ASSERT_TRUE(Journal::Open(file_)->Append(loss).ok());
  const auto entries = Got(Recovered(file_));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries.front().kind, FrameKind::kLoss);
  EXPECT_EQ(entries.front().record.result.outcome, record::Outcome::kCrash);
}

// Kills: a write whose result nobody looks at.
TEST_F(RecordTest, AFullDiskIsSaid) {
  Journal journal = Got(Journal::Open("/dev/full"));
  EXPECT_THAT(
      journal.Begin("node/Abs/test_abs"),
      IsStatus(StatusCode::kResourceExhausted, "/dev/full: No space left"));
}

TEST_F(RecordTest, AJournalWithoutItsFolderIsSaid) {
  const fs::path file = folder_.path() / "none" / "a.journal";
  EXPECT_THAT(Journal::Open(file), IsStatus(StatusCode::kResourceExhausted,
                                            file.string() + ": No such file"));
}

}  // namespace
}  // namespace assay::journal

// SPDX-License-Identifier: Apache-2.0
//
// Journal: the file by which records leave a process.
//
//   ASSAY_ASSIGN_OR_RETURN(Journal journal, Journal::Open(path, plan.digest));
//   ASSAY_RETURN_IF_ERROR(journal.Begin(test_id));
//   ASSAY_RETURN_IF_ERROR(journal.Append(record));
//
//   JournalReader reader(path);
//   ASSAY_RETURN_IF_ERROR(reader.Poll([&](JournalEntry entry) { ... }));
//
// A journal is a list of frames, each written by one write(2) at the end of the
// file: length, checksum, kind, payload. So a process may be killed at any
// moment, and what was written whole stays readable. The first frame names the
// plan, so that no run takes the records of another. The writer holds its file
// where a backend that closes or reuses descriptors seldom comes by, and looks
// before each frame whether it still has it.

#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/file/file.h"
#include "framework/testing/record/record.h"

namespace assay::journal {

/// The subject of a frame.
enum class FrameKind : char {
  kPlan = 'P',      // the digest of the plan that the records are of
  kBackend = 'I',   // a worker's BackendRow, after Inspect
  kMapped = 'M',    // files that a worker executes from; payload: paths
  kDigests = 'D',   // the same with their digests, by the supervisor
  kBegin = 'B',     // a case starts; payload: test_id
  kRecord = 'R',    // a case has its verdict
  kLoss = 'L',      // a worker ended badly, and no case says so
  kEnded = 'X',     // a forked child ended; payload: pid, wait status, call
  kBatchEnd = 'E',  // the worker has run its whole batch
  kFault = 'F'      // the worker itself is broken; payload: how
};

struct JournalEntry {
  FrameKind kind = FrameKind::kBegin;
  /// kBegin: the test_id; kPlan: the digest; kMapped: a path a line; kDigests:
  /// the instance, then a line "DIGEST PATH" for each file; kFault: a sentence;
  /// kEnded: the call.
  std::string text;
  int64_t pid = 0;             // kBegin, kEnded: the process
  int64_t status = 0;          // kEnded: as waitpid gives it
  record::BackendRow backend;  // kBackend
  record::Record record;       // kRecord; kLoss: without test_id or accuracy
};

/// The writing side. One process writes at a time: a child that a backend
/// forked is refused, failed precondition.
class Journal {
 public:
  /// Opens for appending, creating the file. A file without a frame gets the
  /// digest of the plan as its first, unless the digest is empty. Resource
  /// exhausted or not found with the path and the system's reason.
  static Result<Journal> Open(const std::filesystem::path& file,
                              std::string_view plan = {});

  Status Append(const record::BackendRow& backend);
  /// `pid` is the process that a loss is charged to.
  Status Begin(std::string_view test_id, int64_t pid = getpid());
  /// A record without test_id is a loss (kLoss).
  Status Append(const record::Record& record);
  /// `call` is what the child was asked for when it ended, if anything.
  Status Ended(int64_t pid, int64_t status, std::string_view call = {});
  /// A frame of another kind, with the text of its entry.
  Status Write(FrameKind kind, std::string_view payload = {});

  /// Cuts off the torn frame of a child that was killed. Only when nobody else
  /// writes.
  Status CutTornTail() const;

  /// True when the descriptor is no longer the file's, because somebody closed
  /// or reused it; then opens the file again. Each write does so by itself.
  /// Data loss when the path leads to another file, not found when to none.
  Result<bool> Repair();

  /// From now on this process writes: after a fork, in the child.
  void TakeOver();

 private:
  Journal(file::Descriptor fd, std::filesystem::path file);

  file::Descriptor fd_;
  std::filesystem::path file_;  // absolute: the working directory may change
  dev_t device_ = 0;
  ino_t inode_ = 0;
  pid_t writer_ = 0;
  std::string frame_;  // reused
};

/// The reading side, which may follow a journal while it grows.
class JournalReader {
 public:
  explicit JournalReader(std::filesystem::path file) : file_(std::move(file)) {}

  /// Hands over the whole frames behind those of earlier calls. A frame that
  /// is not complete yet is left for a later call; a checksum that does not
  /// match is data loss, with the offset. A file that does not exist is empty.
  Status Poll(const std::function<void(JournalEntry)>& take);

  /// Bytes of the whole frames read so far.
  int64_t offset() const { return offset_; }

  /// Cuts off what lies behind the frames read so far: the torn frame of a
  /// writer that was killed, so that others can be appended. Only when nobody
  /// writes.
  Status CutTornTail() const;

 private:
  std::filesystem::path file_;
  int64_t offset_ = 0;
};

/// Cuts a journal behind its last whole frame, since a power cut leaves a tail
/// that is torn, zeroed or damaged. Returns the number of bytes it cut. Data
/// loss where the file does not begin as a journal.
Result<int64_t> RecoverJournal(const std::filesystem::path& file);

}  // namespace assay::journal

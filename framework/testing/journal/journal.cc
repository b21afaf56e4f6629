// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/journal/journal.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include "framework/file/csv.h"
#include "framework/testing/record/tables.h"

namespace assay::journal {
namespace {

struct FrameHead {
  uint32_t length;  // of the payload
  uint32_t checksum;
  char kind;
};
/// A frame begins with the bytes of its head, without those that pad it.
constexpr size_t kHeadBytes =
    offsetof(FrameHead, kind) + sizeof(FrameHead::kind);
constexpr uint32_t kMaxPayload = 64U << 20U;

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: finds torn and foreign
// bytes; it is no protection against intent.
uint32_t Checksum(char kind, std::string_view payload) {
  uint32_t hash = 2166136261U;
  const auto mix = [&hash](char c) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  };
  mix(kind);
  for (const char c : payload) mix(c);
  return hash;
}

/// "PID test_id" or "PID STATUS CALL".
Result<JournalEntry> DecodeProcess(FrameKind kind, std::string_view payload) {
  JournalEntry entry;
  entry.kind = kind;
  const size_t space = payload.find(' ');
  const auto pid = file::ParseInt(payload.substr(0, space));
  if (!pid.has_value() || space == std::string_view::npos) {
    return DataLoss("found '", payload, "', wanted a process and a word");
  }
  entry.pid = *pid;
  entry.text = payload.substr(space + 1);
  if (kind == FrameKind::kEnded) {
    std::string_view call = entry.text;
    const std::string_view number = CutFront(&call, " ");
    const auto status = file::ParseInt(number);
    if (!status.has_value()) return DataLoss("a status of '", number, "'");
    entry.status = *status;
    entry.text = std::string(call);
  }
  return entry;
}

Result<JournalEntry> Decode(FrameKind kind, std::string_view payload) {
  JournalEntry entry;
  entry.kind = kind;
  switch (kind) {
    case FrameKind::kBegin:
    case FrameKind::kEnded:
      return DecodeProcess(kind, payload);
    case FrameKind::kBatchEnd:
      return entry;
    case FrameKind::kPlan:
    case FrameKind::kMapped:
    case FrameKind::kDigests:
    case FrameKind::kFault:
      entry.text = payload;
      return entry;
    case FrameKind::kBackend: {
      file::CsvReader reader(payload);
      std::vector<std::string> fields;
      if (!reader.Next(&fields)) return DataLoss("an empty backend row");
      ASSAY_RETURN_IF_ERROR(record::ParseFields(
          fields, record::TableOf<record::BackendRow>(), 0, &entry.backend));
      return entry;
    }
    case FrameKind::kRecord:
    case FrameKind::kLoss: {
      ASSAY_ASSIGN_OR_RETURN(entry.record, record::ParseRecord(payload));
      return entry;
    }
  }
  return DataLoss("a frame of unknown kind ", static_cast<int>(kind));
}

/// The bytes of a file from an offset; empty when there is no file.
Result<std::string> ReadFrom(const std::filesystem::path& file,
                             int64_t offset) {
  const file::Descriptor opened(open(file.c_str(), O_RDONLY));
  const int fd = opened.get();
  if (fd < 0) {
    if (errno == ENOENT && offset == 0) return std::string();
    return NotFound("cannot read ", file.string(), ": ", std::strerror(errno));
  }
  const off_t size = lseek(fd, 0, SEEK_END);
  lseek(fd, offset, SEEK_SET);
  std::string bytes;
  std::array<char, BUFSIZ> part;
  const auto next = [&] { return read(fd, part.data(), part.size()); };
  ssize_t got = next();
  for (; got > 0; got = next()) {
    bytes.append(part.data(), static_cast<size_t>(got));
  }
  if (got < 0) {
    return NotFound("cannot read ", file.string(), ": ", std::strerror(errno));
  }
  if (size < offset) {
    return DataLoss(file.string(), " has ", size, " bytes, where ", offset,
                    " had been read");
  }
  return bytes;
}

constexpr rlim_t kHigh = 4000;  // above what others close and number

/// The file, at a descriptor that few come by.
Result<file::Descriptor> OpenHigh(const std::filesystem::path& file,
                                  int flags) {
  file::Descriptor opened(
      open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, 0644));
  if (opened.get() < 0) {
    return ResourceExhausted("cannot write ", file.string(), ": ",
                             std::strerror(errno));
  }
  struct rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted =
      static_cast<int>(std::min(kHigh, limit.rlim_cur - limit.rlim_cur / 8));
  file::Descriptor high(fcntl(opened.get(), F_DUPFD_CLOEXEC, wanted));
  return high.get() < 0 ? std::move(opened) : std::move(high);
}

}  // namespace

Journal::Journal(file::Descriptor fd, std::filesystem::path file)
    : fd_(std::move(fd)), file_(std::move(file)), writer_(getpid()) {
  struct stat info = {};
  fstat(fd_.get(), &info);
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

Result<Journal> Journal::Open(const std::filesystem::path& file,
                              std::string_view plan) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(file, error);
  ASSAY_ASSIGN_OR_RETURN(auto fd, OpenHigh(file, O_CREAT));
  Journal journal(std::move(fd), error ? file : whole);
  struct stat info = {};
  fstat(journal.fd_.get(), &info);
  if (!plan.empty() && info.st_size == 0) {
    ASSAY_RETURN_IF_ERROR(journal.Write(FrameKind::kPlan, plan));
  }
  return journal;
}

Result<bool> Journal::Repair() {
  const auto is_ours = [this](const file::Descriptor& fd) {
    struct stat info = {};
    fstat(fd.get(), &info);
    return info.st_dev == device_ && info.st_ino == inode_;
  };
  if (is_ours(fd_)) return false;
  // Whatever has the number now is not ours to close.
  fd_.release();
  ASSAY_ASSIGN_OR_RETURN(auto again, OpenHigh(file_, 0));
  if (!is_ours(again)) {
    return DataLoss(file_.string(), " is another file than it was");
  }
  fd_ = std::move(again);
  return true;
}

void Journal::TakeOver() { writer_ = getpid(); }

Status Journal::Write(FrameKind kind, std::string_view payload) {
  if (getpid() != writer_) {
    return FailedPrecondition("process ", getpid(), " is not the writer of ",
                              file_.string(), ", which is ", writer_);
  }
  ASSAY_RETURN_IF_ERROR(Repair().status());
  const char tag = static_cast<char>(kind);
  const FrameHead head = {static_cast<uint32_t>(payload.size()),
                          Checksum(tag, payload), tag};
  frame_.assign(reinterpret_cast<const char*>(&head), kHeadBytes);
  frame_.append(payload);
  ssize_t written = 0;
  do {
    written = write(fd_.get(), frame_.data(), frame_.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(frame_.size())) return OkStatus();
  return ResourceExhausted(
      "cannot write ", frame_.size(), " bytes to ", file_.string(), ": ",
      written < 0 ? std::strerror(errno) : "the disk is full");
}

Status Journal::Append(const record::BackendRow& backend) {
  std::string line;
  record::AppendCsvRow(line, record::Cleaned(backend));
  return Write(FrameKind::kBackend, line);
}

Status Journal::Begin(std::string_view test_id, int64_t pid) {
  return Write(FrameKind::kBegin, StrCat(pid, " ", test_id));
}

Status Journal::Append(const record::Record& record) {
  return Write(
      record.result.test_id.empty() ? FrameKind::kLoss : FrameKind::kRecord,
      ToText(record));
}

Status Journal::Ended(int64_t pid, int64_t status, std::string_view call) {
  return Write(FrameKind::kEnded, StrCat(pid, " ", status, " ", call));
}

Status Journal::CutTornTail() const {
  JournalReader reader(file_);
  ASSAY_RETURN_IF_ERROR(reader.Poll([](const JournalEntry&) {}));
  return reader.CutTornTail();
}

Status JournalReader::Poll(const std::function<void(JournalEntry)>& take) {
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, ReadFrom(file_, offset_));
  std::string_view rest = bytes;
  while (rest.size() >= kHeadBytes) {
    FrameHead head;
    std::memcpy(&head, rest.data(), kHeadBytes);
    if (head.length > kMaxPayload) {
      return DataLoss(file_.string(), " at byte ", offset_, ": a frame of ",
                      head.length, " bytes");
    }
    if (rest.size() < kHeadBytes + head.length) break;
    const std::string_view payload = rest.substr(kHeadBytes, head.length);
    if (Checksum(head.kind, payload) != head.checksum) {
      return DataLoss(file_.string(), " at byte ", offset_,
                      ": the checksum does not match");
    }
    Result<JournalEntry> entry =
        Decode(static_cast<FrameKind>(head.kind), payload);
    if (!entry.ok()) {
      return entry.status().WithContext(
          StrCat(file_.string(), " at byte ", offset_));
    }
    offset_ += static_cast<int64_t>(kHeadBytes + head.length);
    rest.remove_prefix(kHeadBytes + head.length);
    take(*std::move(entry));
  }
  return OkStatus();
}

Status JournalReader::CutTornTail() const {
  std::error_code error;
  const auto whole = static_cast<uint64_t>(offset_);
  if (std::filesystem::exists(file_, error) &&
      std::filesystem::file_size(file_, error) > whole) {
    std::filesystem::resize_file(file_, whole, error);
  }
  if (!error) return OkStatus();
  return ResourceExhausted("cannot repair ", file_.string(), ": ",
                           error.message());
}

Result<int64_t> RecoverJournal(const std::filesystem::path& file) {
  JournalReader reader(file);
  const Status read = reader.Poll([](const JournalEntry&) {});
  if (!read.ok() && read.code() != StatusCode::kDataLoss) return read;
  ASSAY_ASSIGN_OR_RETURN(const std::string tail,
                         ReadFrom(file, reader.offset()));
  const bool zeroed = tail.find_first_not_of('\0') == std::string::npos;
  if (!read.ok() && reader.offset() == 0 && !zeroed) return read;
  ASSAY_RETURN_IF_ERROR(reader.CutTornTail());
  return static_cast<int64_t>(tail.size());
}

}  // namespace assay::journal

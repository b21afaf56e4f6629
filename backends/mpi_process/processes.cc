// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_process/processes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "backends/mpi_rank/endpoint.h"
#include "framework/core/text.h"

namespace assay::mpi_process {
namespace {

constexpr int kTags = 32768;  // that every MPI has

using Clock = std::chrono::steady_clock;

// Tries before a rank that waits leaves the processor to others for a while, an
// eighth of what it has waited: a rank that takes no part in a case waits long.
constexpr int kTries = 100;
constexpr int kShare = 8;
constexpr std::chrono::microseconds kLeastWhile(20);
constexpr std::chrono::microseconds kMostWhile(1000);

Result<bool> AreDone(std::span<MPI_Request> requests,
                     std::span<MPI_Status> ended) {
  int are_over = 0;
  ASSAY_ASSIGN_OR_RETURN(const int count, mpi_rank::CountOf(requests.size()));
  const int code = MPI_Testall(count, requests.data(), &are_over, ended.data());
  if (code == MPI_ERR_IN_STATUS) {
    return DataLoss("a message: ", mpi_rank::ErrorText(ended[0].MPI_ERROR));
  }
  ASSAY_RETURN_IF_ERROR(mpi_rank::Checked(code, "MPI_Testall"));
  return are_over != 0;
}

/// The last words of the process, for a handler of signals, which may make no
/// text.
class LastWords {
 public:
  static void Set(const std::string& text) {
    size_ = std::min(text.size(), words_.size());
    std::memcpy(words_.data(), text.data(), size_);
  }
  static void Say(int) {
    static_cast<void>(!write(STDERR_FILENO, words_.data(), size_));
    std::abort();
  }

 private:
  static inline std::array<char, 256> words_;
  static inline size_t size_ = 0;
};

constexpr char kPatience[] = "patience";
// The default: half the time that a case has by default. With more ranks than
// cores a rank may compute for 10 seconds and more before it has its part of a
// large network's step.
constexpr int kSeconds = 60;
constexpr int kMostSeconds = 3600;

/// The seconds of a text from "1" to "3600"; nothing for another text.
std::optional<int> SecondsOf(std::string_view text) {
  int seconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (seconds < 1 || seconds > kMostSeconds) return std::nullopt;
  return seconds;
}

}  // namespace

Result<World*> World::Get() {
  static World world;
  ASSAY_RETURN_IF_ERROR(world.begun_);
  return &world;
}

int World::NextTag() { return tag_ = (tag_ + 1) % kTags; }

Status World::Begin() {
  int has_begun = 0;
  ASSAY_MPI(MPI_Initialized, &has_begun);
  if (has_begun == 0) {
    ASSAY_MPI(MPI_Init, nullptr, nullptr);
    std::atexit([] { MPI_Finalize(); });
  }
  ASSAY_MPI(MPI_Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ASSAY_MPI(MPI_Comm_size, MPI_COMM_WORLD, &size_);
  int rank = 0;
  ASSAY_MPI(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
  groups_.resize(static_cast<size_t>(size_) + 1, MPI_COMM_NULL);
  for (int count = 1; count <= size_; ++count) {
    MPI_Comm& group = groups_[static_cast<size_t>(count)];
    ASSAY_MPI(MPI_Comm_split, MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED,
              rank, &group);
    if (group != MPI_COMM_NULL) {
      ASSAY_MPI(MPI_Comm_set_errhandler, group, MPI_ERRORS_RETURN);
    }
  }
  // Open MPI 4.1.4 dies of a message that comes before its communicator is
  // there.
  ASSAY_MPI(MPI_Barrier, MPI_COMM_WORLD);
  return OkStatus();
}

Status Patience::ForAll(std::span<MPI_Request> requests,
                        std::span<MPI_Status> ended,
                        const mpi_rank::Awaited& awaited) {
  const Clock::time_point begin = Clock::now();
  for (int tries = 0;; ++tries) {
    ASSAY_ASSIGN_OR_RETURN(const bool are_over, AreDone(requests, ended));
    if (are_over) return OkStatus();
    const Clock::duration waited = Clock::now() - begin;
    if (waited > longest_) break;
    if (tries < kTries) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::clamp<Clock::duration>(
          waited / kShare, kLeastWhile, kMostWhile));
    }
  }
  return FailedPrecondition(TextOf(awaited));
}

std::string Patience::TextOf(const mpi_rank::Awaited& awaited) const {
  return StrCat("waited more than ", longest_.count(), " s ", awaited.text());
}

Status Patience::During(const mpi_rank::Awaited& awaited,
                        const std::function<Status()>& call) {
  int rank = 0;
  ASSAY_MPI(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
  LastWords::Set(StrCat("rank ", rank, ": ", TextOf(awaited), "\n"));
  struct sigaction mine = {};
  struct sigaction before = {};
  mine.sa_handler = &LastWords::Say;
  sigaction(SIGALRM, &mine, &before);
  alarm(static_cast<unsigned>(longest_.count()));
  Status status = call();
  alarm(0);
  // The process is left as it was found.
  sigaction(SIGALRM, &before, nullptr);
  return status;
}

Result<std::vector<RankEnd>> Processes::Run(int count, const Rank& rank) {
  ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
  if (count < 1 || count > world->size()) {
    return Unsupported(Reason::kShape, "found ", count,
                       " ranks, wanted 1 to the ", world->size(),
                       " that were launched");
  }
  const int tag = world->NextTag();
  MPI_Comm group = world->First(count);
  if (group == MPI_COMM_NULL) return std::vector<RankEnd>();
  MPI_Request met = MPI_REQUEST_NULL;
  ASSAY_MPI(MPI_Ibarrier, group, &met);
  ASSAY_RETURN_IF_ERROR(mpi_rank::WaitForCollective(
      group, &met, {.collective = Operation::kBarrier}, meeting_));
  ASSAY_ASSIGN_OR_RETURN(const auto mine,
                         mpi_rank::MpiEndpoint::Of(group, tag, patience_));
  return std::vector<RankEnd>{
      {mine->rank(), around_ ? around_(*mine, rank) : rank(*mine)}};
}

std::vector<std::string> MpiCommunicator::setting_names() const {
  return {kPatience};
}

Result<Ranks*> MpiCommunicator::RanksWith(const Settings& settings) {
  int seconds = kSeconds;
  if (const auto set = settings.find(kPatience); set != settings.end()) {
    const std::optional<int> found = SecondsOf(set->second);
    if (!found.has_value()) {
      return InvalidArgument("setting ", kPatience, " is '", set->second,
                             "', wanted whole seconds from 1 to ",
                             kMostSeconds);
    }
    seconds = *found;
  }
  const std::lock_guard lock(mutex_);
  return &ranks_.try_emplace(seconds, std::chrono::seconds(seconds), around_)
              .first->second;
}

Result<Probe> MpiCommunicator::Inspect() {
  ASSAY_RETURN_IF_ERROR(World::Get().status());
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  ASSAY_MPI(MPI_Get_library_version, text.data(), &length);
  // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n..."
  std::string_view version(text.data(), static_cast<size_t>(length));
  constexpr std::string_view kDigits = "0123456789";
  version.remove_prefix(
      std::min(version.find_first_of(kDigits), version.size()));
  version = version.substr(0, version.find_first_of(", \t\r\n"));
  return Probe{std::string(version), "cpu"};
}

}  // namespace assay::mpi_process

// SPDX-License-Identifier: Apache-2.0
//
// Ranks of Open MPI: processes that mpiexec starts, messages by MPI's point-to-point
// calls. Source: MPI: A Message-Passing Interface Standard, version 3.1, chapters 3 and
// 6.

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "framework/backend/registry.h"

namespace assay::openmpi {
namespace {

using Clock = std::chrono::steady_clock;

// A rank that waits so long for others gives up, so that a case ends by itself.
constexpr std::chrono::seconds kPatience(10);
constexpr int kTags = 32768;  // that every MPI has
// Tries before a rank that waits leaves the processor to others for a while.
constexpr int kTries = 100;
constexpr std::chrono::microseconds kWhile(20);

std::string ErrorText(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return std::string(text.data(), static_cast<size_t>(length));
}

Status Checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return OkStatus();
  return Internal(call, ": ", ErrorText(code));
}

#define ASSAY_MPI(call, ...) \
  ASSAY_RETURN_IF_ERROR(Checked(call(__VA_ARGS__), #call))

Result<int> CountOf(size_t bytes) {
  if (bytes > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Unsupported(Reason::kShape, "found a message of ", bytes,
                       " bytes, wanted fewer than 2^31");
  }
  return static_cast<int>(bytes);
}

/// The world of this process; MPI is started once, and ended with the process.
class World {
 public:
  static Result<World*> Get() {
    static World world;
    ASSAY_RETURN_IF_ERROR(world.begun_);
    return &world;
  }
  int size() const { return size_; }
  /// Of the first ranks of all, so many; null where this one is none of them.
  MPI_Comm First(int count) const {
    return groups_[static_cast<size_t>(count)];
  }

 private:
  World() : begun_(Begin()) {}

  Status Begin() {
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
      ASSAY_MPI(MPI_Comm_split, MPI_COMM_WORLD,
                rank < count ? 0 : MPI_UNDEFINED, rank, &group);
      if (group != MPI_COMM_NULL) {
        ASSAY_MPI(MPI_Comm_set_errhandler, group, MPI_ERRORS_RETURN);
      }
    }
    // Open MPI 4.1.4 dies of a message that comes before its communicator is there.
    ASSAY_MPI(MPI_Barrier, MPI_COMM_WORLD);
    return OkStatus();
  }

  int size_ = 1;
  std::vector<MPI_Comm> groups_;  // by their sizes
  Status begun_;
};

/// A rank of a communicator.
class MpiEndpoint final : public Endpoint {
 public:
  /// Messages have a tag: what another run left is none of this one's.
  static Result<MpiEndpoint> Of(MPI_Comm group, int tag) {
    MpiEndpoint endpoint(group, tag);
    ASSAY_MPI(MPI_Comm_size, group, &endpoint.size_);
    ASSAY_MPI(MPI_Comm_rank, group, &endpoint.rank_);
    return endpoint;
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override {
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> ended{};
    ASSAY_ASSIGN_OR_RETURN(const int sent, CountOf(out.size()));
    ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
    if (from != kNobody) {
      ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, from, tag_, group_,
                requests.data());
    }
    if (to != kNobody) {
      ASSAY_MPI(MPI_Isend, out.data(), sent, MPI_BYTE, to, tag_, group_,
                &requests[1]);
    }
    ASSAY_RETURN_IF_ERROR(Wait(requests, ended, from));
    return from == kNobody ? OkStatus() : CheckLength(ended[0], wanted);
  }

  Result<int> ReceiveAny(std::span<std::byte> in) override {
    std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> ended{};
    ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
    ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, MPI_ANY_SOURCE, tag_,
              group_, requests.data());
    ASSAY_RETURN_IF_ERROR(Wait(requests, ended, kAnybody));
    ASSAY_RETURN_IF_ERROR(CheckLength(ended[0], wanted));
    return ended[0].MPI_SOURCE;
  }

 private:
  MpiEndpoint(MPI_Comm group, int tag) : group_(group), tag_(tag) {}

  static Status Wait(std::array<MPI_Request, 2>& requests,
                     std::array<MPI_Status, 2>& ended, int from) {
    const Clock::time_point end = Clock::now() + kPatience;
    int is_done = 0;
    for (int tries = 0;; ++tries) {
      const int code = MPI_Testall(2, requests.data(), &is_done, ended.data());
      if (code == MPI_ERR_IN_STATUS) {
        return DataLoss("a message: ", ErrorText(ended[0].MPI_ERROR));
      }
      ASSAY_RETURN_IF_ERROR(Checked(code, "MPI_Testall"));
      if (is_done != 0) return OkStatus();
      if (Clock::now() > end) return GiveUp(requests, from);
      if (tries < kTries) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(kWhile);
      }
    }
  }

  static Status GiveUp(std::array<MPI_Request, 2>& requests, int from) {
    for (MPI_Request& request : requests) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
    return FailedPrecondition(
        "waited more than ", kPatience.count(), " s",
        from >= 0 ? StrCat(" for rank ", from)
                  : std::string(from == kAnybody ? " for anybody" : ""));
  }

  static Status CheckLength(const MPI_Status& status, int wanted) {
    int got = 0;
    ASSAY_MPI(MPI_Get_count, &status, MPI_BYTE, &got);
    if (got == wanted) return OkStatus();
    return DataLoss("rank ", status.MPI_SOURCE, " sent ", got,
                    " bytes, wanted ", wanted);
  }

  MPI_Comm group_;
  int tag_;
  int size_ = 0;
  int rank_ = 0;
};

class MpiRanks final : public Ranks {
 public:
  bool spans_processes() const override { return true; }

  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
    if (count < 1 || count > world->size()) {
      return Unsupported(Reason::kShape, "found ", count,
                         " ranks, wanted 1 to the ", world->size(),
                         " that were launched");
    }
    runs_ = (runs_ + 1) % kTags;
    MPI_Comm group = world->First(count);
    if (group == MPI_COMM_NULL) return std::vector<RankEnd>();
    ASSAY_ASSIGN_OR_RETURN(MpiEndpoint endpoint, MpiEndpoint::Of(group, runs_));
    return std::vector<RankEnd>{{endpoint.rank(), rank(endpoint)}};
  }

 private:
  int runs_ = 0;
};

class OpenMpi final : public Backend {
 public:
  std::string_view name() const override { return "openmpi"; }

  Result<Probe> Inspect() override {
    // Here, so that what MPI starts is there before the first case.
    ASSAY_RETURN_IF_ERROR(World::Get().status());
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    ASSAY_MPI(MPI_Get_library_version, text.data(), &length);
    // "Open MPI v4.1.4, package: ..."
    std::string_view version(text.data(), static_cast<size_t>(length));
    version = version.substr(0, version.find(','));
    const size_t number = version.find(" v");
    if (number != version.npos) version.remove_prefix(number + 2);
    return Probe{std::string(version), "cpu"};
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) override {
    return Unsupported(Reason::kOperator,
                       "openmpi carries messages between ranks and runs no "
                       "model");
  }

  Ranks* ranks() override { return &ranks_; }

 private:
  MpiRanks ranks_;
};

ASSAY_REGISTER_BACKEND(OpenMpi);

}  // namespace
}  // namespace assay::openmpi

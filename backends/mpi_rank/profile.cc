// SPDX-License-Identifier: Apache-2.0
//
// An archive has this file for CountedOfThisRank alone, where mpi.h declares
// MPI's functions weak: so they stand in the same file.

#include "backends/mpi_rank/profile.h"

#include <mpi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace assay::mpi_rank {
namespace {

/// Null where the message goes to no other rank.
using MessageBytes = std::optional<int64_t>;

int RankIn(MPI_Comm group) {
  int rank = MPI_PROC_NULL;
  PMPI_Comm_rank(group, &rank);
  return rank;
}

int64_t BytesOf(int count, MPI_Datatype type) {
  int size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
  return int64_t{count} * size;
}

MessageBytes BytesTo(int to, int count, MPI_Datatype type, MPI_Comm group) {
  if (to == MPI_PROC_NULL || to == RankIn(group)) return std::nullopt;
  return BytesOf(count, type);
}

/// The counts of this process's ranks. They are there until the process ends,
/// as MPI is.
class Counts {
 public:
  static Counts& Get() {
    static Counts& counts = *new Counts();
    return counts;
  }

  Counted OfThisRank() {
    const int rank = RankIn(MPI_COMM_WORLD);
    const std::lock_guard lock(mutex_);
    return of_ranks_[rank];
  }
  void AddMessage(MessageBytes bytes) {
    if (!bytes.has_value()) return;
    const int rank = RankIn(MPI_COMM_WORLD);
    const std::lock_guard lock(mutex_);
    of_ranks_[rank].sent.bytes += *bytes;
    of_ranks_[rank].sent.messages += 1;
  }
  void AddCollective(int64_t bytes) {
    const int rank = RankIn(MPI_COMM_WORLD);
    const std::lock_guard lock(mutex_);
    of_ranks_[rank].collectives += 1;
    of_ranks_[rank].collective_bytes += bytes;
  }

  /// A request that sends whenever it is started, until it is freed.
  void Keep(MPI_Request request, MessageBytes bytes) {
    const std::lock_guard lock(mutex_);
    kept_[request] = bytes;
  }
  void Free(MPI_Request request) {
    const std::lock_guard lock(mutex_);
    kept_.erase(request);
  }
  /// MPI may give it another name when it starts.
  void AddStarted(MPI_Request before, MPI_Request now) {
    AddMessage(Renamed(before, now));
  }

 private:
  /// Null for a request that receives.
  MessageBytes Renamed(MPI_Request before, MPI_Request now) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(before);
    if (found == kept_.end()) return std::nullopt;
    const MessageBytes bytes = found->second;
    kept_.erase(found);
    kept_[now] = bytes;
    return bytes;
  }

  std::mutex mutex_;
  std::map<int, Counted> of_ranks_;  // by their numbers in the world
  std::map<MPI_Request, MessageBytes> kept_;
};

/// Counts a call that succeeded, and returns MPI's result.
int CountMessage(int code, int to, int count, MPI_Datatype type,
                 MPI_Comm group) {
  if (code == MPI_SUCCESS) {
    Counts::Get().AddMessage(BytesTo(to, count, type, group));
  }
  return code;
}

int CountKept(int code, int to, int count, MPI_Datatype type, MPI_Comm group,
              const MPI_Request* request) {
  if (code == MPI_SUCCESS) {
    Counts::Get().Keep(*request, BytesTo(to, count, type, group));
  }
  return code;
}

int CountCollective(int code, int count, MPI_Datatype type) {
  if (code == MPI_SUCCESS) Counts::Get().AddCollective(BytesOf(count, type));
  return code;
}

}  // namespace

Counted CountedOfThisRank() { return Counts::Get().OfThisRank(); }

}  // namespace assay::mpi_rank

using assay::mpi_rank::CountCollective;
using assay::mpi_rank::CountKept;
using assay::mpi_rank::CountMessage;
using assay::mpi_rank::Counts;

// In the order of the standard: calls that block, nonblocking ones, persistent
// ones.
#define ASSAY_SENDS(waits, goes_on, kept)                                     \
  int MPI_##waits(const void* out, int count, MPI_Datatype type, int to,      \
                  int tag, MPI_Comm group) {                                  \
    return CountMessage(PMPI_##waits(out, count, type, to, tag, group), to,   \
                        count, type, group);                                  \
  }                                                                           \
  int MPI_##goes_on(const void* out, int count, MPI_Datatype type, int to,    \
                    int tag, MPI_Comm group, MPI_Request* request) {          \
    return CountMessage(                                                      \
        PMPI_##goes_on(out, count, type, to, tag, group, request), to, count, \
        type, group);                                                         \
  }                                                                           \
  int MPI_##kept(const void* out, int count, MPI_Datatype type, int to,       \
                 int tag, MPI_Comm group, MPI_Request* request) {             \
    return CountKept(PMPI_##kept(out, count, type, to, tag, group, request),  \
                     to, count, type, group, request);                        \
  }                                                                           \
  static_assert(true)

// `parameters` are in brackets; the arguments follow.
#define ASSAY_BARE(...) __VA_ARGS__
#define ASSAY_COLLECTIVE(waits, goes_on, count, type, parameters, ...)         \
  int MPI_##waits(ASSAY_BARE parameters) {                                     \
    return CountCollective(PMPI_##waits(__VA_ARGS__), count, type);            \
  }                                                                            \
  int MPI_##goes_on(ASSAY_BARE parameters, MPI_Request* request) {             \
    return CountCollective(PMPI_##goes_on(__VA_ARGS__, request), count, type); \
  }                                                                            \
  static_assert(true)

extern "C" {

ASSAY_SENDS(Send, Isend, Send_init);
ASSAY_SENDS(Ssend, Issend, Ssend_init);
ASSAY_SENDS(Rsend, Irsend, Rsend_init);
ASSAY_SENDS(Bsend, Ibsend, Bsend_init);

int MPI_Sendrecv(const void* out, int count, MPI_Datatype type, int to,
                 int out_tag, void* in, int in_count, MPI_Datatype in_type,
                 int from, int in_tag, MPI_Comm group, MPI_Status* status) {
  return CountMessage(PMPI_Sendrecv(out, count, type, to, out_tag, in, in_count,
                                    in_type, from, in_tag, group, status),
                      to, count, type, group);
}

int MPI_Sendrecv_replace(void* memory, int count, MPI_Datatype type, int to,
                         int out_tag, int from, int in_tag, MPI_Comm group,
                         MPI_Status* status) {
  return CountMessage(PMPI_Sendrecv_replace(memory, count, type, to, out_tag,
                                            from, in_tag, group, status),
                      to, count, type, group);
}

int MPI_Start(MPI_Request* request) {
  const MPI_Request before = *request;
  const int code = PMPI_Start(request);
  if (code == MPI_SUCCESS) Counts::Get().AddStarted(before, *request);
  return code;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int code = PMPI_Startall(count, requests);
  if (code != MPI_SUCCESS) return code;
  for (size_t i = 0; i < before.size(); ++i) {
    Counts::Get().AddStarted(before[i], requests[i]);
  }
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  Counts::Get().Free(*request);
  return PMPI_Request_free(request);
}

ASSAY_COLLECTIVE(Barrier, Ibarrier, 0, MPI_BYTE, (MPI_Comm group), group);
ASSAY_COLLECTIVE(Bcast, Ibcast, count, type,
                 (void* memory, int count, MPI_Datatype type, int root,
                  MPI_Comm group),
                 memory, count, type, root, group);
ASSAY_COLLECTIVE(Reduce, Ireduce, count, type,
                 (const void* in, void* out, int count, MPI_Datatype type,
                  MPI_Op op, int root, MPI_Comm group),
                 in, out, count, type, op, root, group);
ASSAY_COLLECTIVE(Allreduce, Iallreduce, count, type,
                 (const void* in, void* out, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm group),
                 in, out, count, type, op, group);
ASSAY_COLLECTIVE(Gather, Igather, count, type,
                 (const void* in, int count, MPI_Datatype type, void* out,
                  int out_count, MPI_Datatype out_type, int root,
                  MPI_Comm group),
                 in, count, type, out, out_count, out_type, root, group);
ASSAY_COLLECTIVE(Scatter, Iscatter, count, type,
                 (const void* in, int count, MPI_Datatype type, void* out,
                  int out_count, MPI_Datatype out_type, int root,
                  MPI_Comm group),
                 in, count, type, out, out_count, out_type, root, group);
ASSAY_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, count, type,
                 (const void* in, void* out, int count, MPI_Datatype type,
                  MPI_Op op, MPI_Comm group),
                 in, out, count, type, op, group);
ASSAY_COLLECTIVE(Allgather, Iallgather, count, type,
                 (const void* in, int count, MPI_Datatype type, void* out,
                  int out_count, MPI_Datatype out_type, MPI_Comm group),
                 in, count, type, out, out_count, out_type, group);
ASSAY_COLLECTIVE(Alltoall, Ialltoall, count, type,
                 (const void* in, int count, MPI_Datatype type, void* out,
                  int out_count, MPI_Datatype out_type, MPI_Comm group),
                 in, count, type, out, out_count, out_type, group);
ASSAY_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, count, type,
                 (const void* in, int count, MPI_Datatype type, void* out,
                  int out_count, MPI_Datatype out_type, MPI_Comm group),
                 in, count, type, out, out_count, out_type, group);

}  // extern "C"

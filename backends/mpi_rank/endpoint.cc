// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_rank/endpoint.h"

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/collective.h"
#include "backends/mpi_rank/neighbors.h"

namespace assay::mpi_rank {
namespace {

Status CheckLength(const MPI_Status& status, int wanted) {
  int got = 0;
  ASSAY_MPI(MPI_Get_count, &status, MPI_BYTE, &got);
  if (got == wanted) return OkStatus();
  return DataLoss("rank ", status.MPI_SOURCE, " sent ", got, " bytes, wanted ",
                  wanted);
}

void Cancel(std::array<MPI_Request, 2>& requests) {
  for (MPI_Request& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

}  // namespace

Result<std::unique_ptr<MpiEndpoint>> MpiEndpoint::Of(MPI_Comm group, int tag,
                                                     Waiting& waiting,
                                                     bool owns) {
  std::unique_ptr<MpiEndpoint> made(new MpiEndpoint(group, tag, waiting, owns));
  ASSAY_MPI(MPI_Comm_set_errhandler, group, MPI_ERRORS_RETURN);
  ASSAY_MPI(MPI_Comm_size, group, &made->size_);
  ASSAY_MPI(MPI_Comm_rank, group, &made->rank_);
  return made;
}

MpiEndpoint::~MpiEndpoint() {
  // Waits for no other rank here: they may have given up.
  if (owns_) MPI_Comm_free(&group_);
}

Status MpiEndpoint::Wait(std::array<MPI_Request, 2>& requests,
                         std::array<MPI_Status, 2>& ended,
                         const Awaited& awaited) {
  const Status waited = waiting_.ForAll(requests, ended, awaited);
  if (waited.code() == StatusCode::kFailedPrecondition) Cancel(requests);
  return waited;
}

Status MpiEndpoint::Exchange(int to, std::span<const std::byte> out, int from,
                             std::span<std::byte> in) {
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
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, {.from = from, .to = to}));
  return from == kNobody ? OkStatus() : CheckLength(ended[0], wanted);
}

Result<int> MpiEndpoint::ReceiveAny(std::span<std::byte> in) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> ended{};
  ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
  ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, MPI_ANY_SOURCE, tag_,
            group_, requests.data());
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, {.from = kAnybody}));
  ASSAY_RETURN_IF_ERROR(CheckLength(ended[0], wanted));
  return ended[0].MPI_SOURCE;
}

Status MpiEndpoint::Collect(const CollectiveCall& call) {
  if (waiting_.MayBlock({.collective = call.operation})) {
    return RunCollective(group_, call, waiting_);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto pending, Start(call));
  return pending->Wait();
}

Result<std::unique_ptr<Pending>> MpiEndpoint::Start(
    const CollectiveCall& call) {
  return StartCollective(group_, call, waiting_);
}

Result<std::unique_ptr<Endpoint>> MpiEndpoint::Split(int color, int key) {
  MPI_Comm some = MPI_COMM_NULL;
  ASSAY_MPI(MPI_Comm_split, group_, color, key, &some);
  // Open MPI 4.1.4 dies of a message that comes before its communicator is
  // there.
  ASSAY_MPI(MPI_Barrier, group_);
  ASSAY_ASSIGN_OR_RETURN(auto made, Of(some, tag_, waiting_, /*owns=*/true));
  return std::unique_ptr<Endpoint>(std::move(made));
}

Result<std::unique_ptr<Neighbors>> MpiEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  if (!waiting_.HasNeighbors()) return Endpoint::Connect(to, from);
  return ConnectNeighbors(group_, to, from, waiting_);
}

}  // namespace assay::mpi_rank

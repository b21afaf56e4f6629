// SPDX-License-Identifier: Apache-2.0

#include "backends/openmpi/mpi_endpoint.h"

#include <string>

#include "backends/openmpi/mpi_call.h"
#include "backends/openmpi/mpi_collective.h"
#include "framework/core/text.h"

namespace assay::openmpi {
namespace {

Status CheckLength(const MPI_Status& status, int wanted) {
  int got = 0;
  ASSAY_MPI(MPI_Get_count, &status, MPI_BYTE, &got);
  if (got == wanted) return OkStatus();
  return DataLoss("rank ", status.MPI_SOURCE, " sent ", got, " bytes, wanted ",
                  wanted);
}

Status GiveUp(std::array<MPI_Request, 2>& requests, int from) {
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

}  // namespace

Result<std::unique_ptr<MpiEndpoint>> MpiEndpoint::Of(MPI_Comm group, int tag,
                                                     bool owns) {
  std::unique_ptr<MpiEndpoint> made(new MpiEndpoint(group, tag, owns));
  ASSAY_MPI(MPI_Comm_set_errhandler, group, MPI_ERRORS_RETURN);
  ASSAY_MPI(MPI_Comm_size, group, &made->size_);
  ASSAY_MPI(MPI_Comm_rank, group, &made->rank_);
  return made;
}

MpiEndpoint::~MpiEndpoint() {
  // Nobody waits for the others here: they may have given up.
  if (owns_) MPI_Comm_free(&group_);
}

Status MpiEndpoint::Wait(std::array<MPI_Request, 2>& requests,
                         std::array<MPI_Status, 2>& ended, int from) {
  ASSAY_ASSIGN_OR_RETURN(
      const bool is_done, IsDoneInTime([&]() -> Result<bool> {
        int is_over = 0;
        const int code =
            MPI_Testall(2, requests.data(), &is_over, ended.data());
        if (code == MPI_ERR_IN_STATUS) {
          return DataLoss("a message: ", ErrorText(ended[0].MPI_ERROR));
        }
        ASSAY_RETURN_IF_ERROR(Checked(code, "MPI_Testall"));
        return is_over != 0;
      }));
  return is_done ? OkStatus() : GiveUp(requests, from);
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
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, from));
  return from == kNobody ? OkStatus() : CheckLength(ended[0], wanted);
}

Result<int> MpiEndpoint::ReceiveAny(std::span<std::byte> in) {
  std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Status, 2> ended{};
  ASSAY_ASSIGN_OR_RETURN(const int wanted, CountOf(in.size()));
  ASSAY_MPI(MPI_Irecv, in.data(), wanted, MPI_BYTE, MPI_ANY_SOURCE, tag_,
            group_, requests.data());
  ASSAY_RETURN_IF_ERROR(Wait(requests, ended, kAnybody));
  ASSAY_RETURN_IF_ERROR(CheckLength(ended[0], wanted));
  return ended[0].MPI_SOURCE;
}

Status MpiEndpoint::Collect(const CollectiveCall& call) {
  ASSAY_ASSIGN_OR_RETURN(const auto pending, Start(call));
  return pending->Wait();
}

Result<std::unique_ptr<Pending>> MpiEndpoint::Start(
    const CollectiveCall& call) {
  return StartCollective(group_, call);
}

Result<std::unique_ptr<Endpoint>> MpiEndpoint::Split(int color, int key) {
  MPI_Comm some = MPI_COMM_NULL;
  ASSAY_MPI(MPI_Comm_split, group_, color, key, &some);
  // Open MPI 4.1.4 dies of a message that comes before its communicator is there.
  ASSAY_MPI(MPI_Barrier, group_);
  ASSAY_ASSIGN_OR_RETURN(auto made, Of(some, tag_, /*owns=*/true));
  return std::unique_ptr<Endpoint>(std::move(made));
}

}  // namespace assay::openmpi

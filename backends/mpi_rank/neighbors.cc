// SPDX-License-Identifier: Apache-2.0
//
// Source: MPI: A Message-Passing Interface Standard, version 3.1, sections
// 7.5.4 and 7.7.

#include "backends/mpi_rank/neighbors.h"

#include <cstddef>
#include <utility>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/collective.h"

namespace assay::mpi_rank {
namespace {

class MpiNeighbors final : public Neighbors {
 public:
  MpiNeighbors(size_t to, size_t from, Waiting& waiting)
      : to_(to), from_(from), waiting_(waiting) {}
  ~MpiNeighbors() override {
    if (graph_ != MPI_COMM_NULL) MPI_Comm_free(&graph_);
  }

  Status Begin(MPI_Comm group, std::span<const int> to,
               std::span<const int> from);
  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override;

 private:
  const size_t to_, from_;  // how many there are
  Waiting& waiting_;
  MPI_Comm graph_ = MPI_COMM_NULL;
};

Status MpiNeighbors::Begin(MPI_Comm group, std::span<const int> to,
                           std::span<const int> from) {
  ASSAY_ASSIGN_OR_RETURN(const int sources, CountOf(from.size()));
  ASSAY_ASSIGN_OR_RETURN(const int destinations, CountOf(to.size()));
  ASSAY_MPI(MPI_Dist_graph_create_adjacent, group, sources, from.data(),
            MPI_UNWEIGHTED, destinations, to.data(), MPI_UNWEIGHTED,
            MPI_INFO_NULL, /*reorder=*/0, &graph_);
  ASSAY_MPI(MPI_Comm_set_errhandler, graph_, MPI_ERRORS_RETURN);
  // Open MPI 4.1.4 dies of a message that comes before its communicator is
  // there.
  ASSAY_MPI(MPI_Barrier, group);
  return OkStatus();
}

Status MpiNeighbors::Exchange(std::span<const std::byte> out,
                              std::span<std::byte> in) {
  ASSAY_ASSIGN_OR_RETURN(const size_t block, BlockBytes(out, to_, in, from_));
  ASSAY_ASSIGN_OR_RETURN(const int count, CountOf(block));
  MPI_Request request = MPI_REQUEST_NULL;
  ASSAY_MPI(MPI_Ineighbor_alltoall, out.data(), count, MPI_BYTE, in.data(),
            count, MPI_BYTE, graph_, &request);
  return WaitForCollective(graph_, &request, {.neighbors = true}, waiting_);
}

}  // namespace

Result<std::unique_ptr<Neighbors>> ConnectNeighbors(MPI_Comm group,
                                                    std::span<const int> to,
                                                    std::span<const int> from,
                                                    Waiting& waiting) {
  auto made = std::make_unique<MpiNeighbors>(to.size(), from.size(), waiting);
  ASSAY_RETURN_IF_ERROR(made->Begin(group, to, from));
  return std::unique_ptr<Neighbors>(std::move(made));
}

}  // namespace assay::mpi_rank

// SPDX-License-Identifier: Apache-2.0
//
// MpiEndpoint: a communicator of MPI, as one of its ranks sees it, with MPI's
// own collectives and its exchange with neighbours.

#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/profile.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::mpi_rank {

/// Invalid argument for memory of other bytes than CollectiveCall says.
Status CheckMemory(const CollectiveCall& call, int rank, int ranks);

/// Returns when a collective of the group is done that MPI has begun. Ends the
/// process where the rank gives up.
Status WaitForCollective(MPI_Comm group, MPI_Request* request,
                         const Awaited& awaited, Waiting& waiting);

/// A collective that other ranks do not come to ends the process, where the
/// library lets a rank give up: MPI cancels none, and would write into memory
/// that has another owner by then. Collectives have errors as of CheckMemory,
/// and are unsupported for a type that MPI 3.1 has not, which are floats of
/// other widths than 32 and 64 where they are combined, and from 2^31 elements
/// on.
class MpiEndpoint final : public Endpoint {
 public:
  /// Messages have a tag, so that no message of another run is received.
  /// `waiting` must outlive this, and so must the group, unless it is this
  /// endpoint's own.
  static Result<std::unique_ptr<MpiEndpoint>> Of(MPI_Comm group, int tag,
                                                 Waiting& waiting,
                                                 bool owns = false);
  ~MpiEndpoint() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  /// Unsupported where the library has neighbour collectives by name alone.
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;
  Result<Counted> counted() const override { return CountedOfThisRank(); }
  std::optional<double> simulated_seconds() const override {
    return waiting_.simulated_seconds();
  }
  const void* native_handle() const override { return &group_; }
  bool has(Reduction) const override { return true; }

 private:
  MpiEndpoint(MPI_Comm group, int tag, Waiting& waiting, bool owns)
      : group_(group), tag_(tag), waiting_(waiting), owns_(owns) {}

  Status Wait(std::array<MPI_Request, 2>& requests,
              std::array<MPI_Status, 2>& ended, const Awaited& awaited);

  MPI_Comm group_;
  const int tag_;
  Waiting& waiting_;
  const bool owns_;
  int size_ = 0;
  int rank_ = 0;
};

}  // namespace assay::mpi_rank

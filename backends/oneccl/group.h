// SPDX-License-Identifier: Apache-2.0
//
// Group: a communicator of oneCCL over the ranks of a communicator of MPI.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto group, Group::Of(MPI_COMM_WORLD));
//   ASSAY_ASSIGN_OR_RETURN(const auto pending, group->Start(call));
//   ASSAY_RETURN_IF_ERROR(pending->Wait());

#pragma once

#include <mpi.h>

#include <memory>
#include <oneapi/ccl.hpp>
#include <utility>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::oneccl {

class Group {
 public:
  /// All ranks of the communicator call it. Rank 0 tells the others by MPI
  /// where oneCCL's ranks find each other. Internal where oneCCL throws.
  static Result<std::unique_ptr<Group>> Of(MPI_Comm ranks);

  Group(ccl::communicator group, int rank, int size)
      : group_(std::move(group)), rank_(rank), size_(size) {}

  /// Begins a collective. Unsupported for gather and scatter, which oneCCL
  /// lacks, and for types other than float32, float64, int32 and int64;
  /// internal where oneCCL throws.
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call);

 private:
  Result<ccl::event> Begin(const CollectiveCall& call);

  ccl::communicator group_;
  const int rank_, size_;
};

}  // namespace assay::oneccl

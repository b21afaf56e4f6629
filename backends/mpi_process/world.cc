// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_process/world.h"

#include <cstdlib>

#include "backends/mpi_rank/call.h"

namespace assay::mpi_process {
namespace {

constexpr int kTags = 32768;  // that every MPI has

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

}  // namespace assay::mpi_process

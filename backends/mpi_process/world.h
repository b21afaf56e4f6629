// SPDX-License-Identifier: Apache-2.0
//
// World: MPI in this process. It is started once, and ended with the process.
//
//   ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
//   const MPI_Comm four = world->First(4);

#pragma once

#include <mpi.h>

#include <vector>

#include "framework/core/status.h"

namespace assay::mpi_process {

class World {
 public:
  static Result<World*> Get();

  int size() const { return size_; }
  /// The communicator of the first `count` ranks of all; null where this rank
  /// is none of them.
  MPI_Comm First(int count) const {
    return groups_[static_cast<size_t>(count)];
  }
  /// The tag of the next run's messages, which no recent run has.
  int NextTag();

 private:
  World() : begun_(Begin()) {}
  Status Begin();

  int size_ = 1;
  int tag_ = 0;
  std::vector<MPI_Comm> groups_;  // by their sizes
  Status begun_;
};

}  // namespace assay::mpi_process

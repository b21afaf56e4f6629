// SPDX-License-Identifier: Apache-2.0
//
// Waiting: how a rank waits for others, which is each library's own: one asks again and
// again, and gives up in time; another one knows when nobody can come. Time itself may be
// the library's own, too, and an exchange with neighbours may be there by name alone.
//
//   const Awaited awaited{.from = 3};
//   ASSAY_RETURN_IF_ERROR(waiting.ForAll(requests, ended, awaited));

#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <string>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"

namespace assay::mpi_rank {

/// What a rank waits for.
struct Awaited {
  int from = kNobody, to = kNobody;     // a message, or that one is taken
  std::optional<Operation> collective;  // the others in it
  bool neighbors = false;               // those that it exchanges with

  /// "in allreduce", "for its neighbors", "for rank 3", "for anybody", "for rank 1 to
  /// receive".
  std::string text() const {
    if (neighbors) return "for its neighbors";
    if (collective.has_value()) return StrCat("in ", ToString(*collective));
    if (from == kAnybody) return "for anybody";
    return from >= 0 ? StrCat("for rank ", from)
                     : StrCat("for rank ", to, " to receive");
  }
};

class Waiting {
 public:
  virtual ~Waiting() = default;
  /// Returns when all requests are done. Failed precondition where the rank gives up; as
  /// Checked otherwise.
  virtual Status ForAll(std::span<MPI_Request> requests,
                        std::span<MPI_Status> ended,
                        const Awaited& awaited) = 0;
  /// True where a rank may call what returns only when others come, which it says before.
  virtual bool MayBlock(const Awaited& awaited) {
    static_cast<void>(awaited);
    return false;
  }
  /// As Endpoint::simulated_seconds.
  virtual std::optional<double> simulated_seconds() const {
    return std::nullopt;
  }
  /// False where MPI's exchange with neighbours is there by name alone.
  virtual bool HasNeighbors() const { return true; }
};

}  // namespace assay::mpi_rank

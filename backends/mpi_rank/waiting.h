// SPDX-License-Identifier: Apache-2.0
//
// Waiting: the way in which a rank waits for others, which is each library's
// own: one polls, and gives up in time; another knows when no message can come.
// It also says which of a library's abilities are missing: its clock, and its
// neighbour collectives.
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

/// The event that a rank waits for.
struct Awaited {
  int from = kNobody, to = kNobody;     // a message to come, or to be received
  std::optional<Operation> collective;  // the other ranks of a collective
  bool neighbors = false;               // the neighbours of an exchange

  /// "in allreduce", "for its neighbors", "for rank 3", "for anybody", "for
  /// rank 1 to receive".
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
  /// Returns when all requests are done. Failed precondition where the rank
  /// gives up; else errors as of Checked.
  virtual Status ForAll(std::span<MPI_Request> requests,
                        std::span<MPI_Status> ended,
                        const Awaited& awaited) = 0;
  /// True where a rank may make a call that returns only when others come,
  /// which `awaited` names in advance.
  virtual bool MayBlock(const Awaited& awaited) {
    static_cast<void>(awaited);
    return false;
  }
  /// As Endpoint::simulated_seconds.
  virtual std::optional<double> simulated_seconds() const {
    return std::nullopt;
  }
  /// False where the library has neighbour collectives by name alone.
  virtual bool HasNeighbors() const { return true; }
};

}  // namespace assay::mpi_rank

// SPDX-License-Identifier: Apache-2.0
//
// Calls of MPI as Status, and how a rank waits for others in them.

#pragma once

#include <mpi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/text.h"

namespace assay::mpi_rank {

std::string ErrorText(int code);
Status Checked(int code, const char* call);

#define ASSAY_MPI(call, ...) \
  ASSAY_RETURN_IF_ERROR(::assay::mpi_rank::Checked(call(__VA_ARGS__), #call))

/// A count as MPI's int. Unsupported from 2^31 on.
Result<int> CountOf(size_t count);

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

/// The way in which a rank waits for others, which is each library's own: one
/// polls, and gives up in time; another knows when no message can come. It also
/// says which of a library's abilities are missing: its clock, and its
/// neighbour collectives.
class Waiting {
 public:
  virtual ~Waiting() = default;
  /// Returns when all requests are done. Failed precondition where the rank
  /// gives up; else errors as of Checked.
  virtual Status ForAll(std::span<MPI_Request> requests,
                        std::span<MPI_Status> ended,
                        const Awaited& awaited) = 0;
  /// Makes a call that returns only when others come, and returns its Status.
  virtual Status During(const Awaited& awaited,
                        const std::function<Status()>& call) = 0;
  /// As Endpoint::simulated_seconds.
  virtual std::optional<double> simulated_seconds() const {
    return std::nullopt;
  }
  /// False where the library has neighbour collectives by name alone.
  virtual bool HasNeighbors() const { return true; }
};

}  // namespace assay::mpi_rank

// SPDX-License-Identifier: Apache-2.0
//
// Patience: a rank asks whether it is done, gives way to others between, and
// gives up in time, so that a case ends by itself.
//
//   Patience patience(std::chrono::seconds(10));
//   ASSAY_RETURN_IF_ERROR(patience.ForAll(requests, ended, {.from = 3}));

#pragma once

#include <mpi.h>

#include <chrono>
#include <span>

#include "backends/mpi_rank/waiting.h"
#include "framework/core/status.h"

namespace assay::mpi_process {

class Patience final : public mpi_rank::Waiting {
 public:
  explicit Patience(std::chrono::seconds longest) : longest_(longest) {}

  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited& awaited) override;

 private:
  const std::chrono::seconds longest_;
};

}  // namespace assay::mpi_process

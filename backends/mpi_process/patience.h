// SPDX-License-Identifier: Apache-2.0
//
// Patience: a rank asks whether it is done, gives way to others between, and gives up in
// time, so that a case ends by itself.
//
//   Patience patience;
//   ASSAY_RETURN_IF_ERROR(patience.ForAll(requests, ended, {.from = 3}));

#pragma once

#include <mpi.h>

#include <span>

#include "backends/mpi_rank/waiting.h"
#include "framework/core/status.h"

namespace assay::mpi_process {

class Patience final : public mpi_rank::Waiting {
 public:
  Status ForAll(std::span<MPI_Request> requests, std::span<MPI_Status> ended,
                const mpi_rank::Awaited& awaited) override;
};

}  // namespace assay::mpi_process

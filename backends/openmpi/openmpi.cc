// SPDX-License-Identifier: Apache-2.0
//
// Ranks of Open MPI: processes that mpiexec starts, with MPI's messages and
// collectives. Source: MPI: A Message-Passing Interface Standard, version 3.1,
// chapters 3, 5 and 6.

#include <string_view>

#include "backends/mpi_process/processes.h"
#include "framework/backend/registry.h"

namespace assay::openmpi {
namespace {

class OpenMpi final : public mpi_process::MpiCommunicator {
 public:
  std::string_view name() const override { return "openmpi"; }
};

ASSAY_REGISTER_COMMUNICATOR(OpenMpi);

}  // namespace
}  // namespace assay::openmpi

// SPDX-License-Identifier: Apache-2.0
//
// Ranks of Open MPI: processes that mpiexec starts, with MPI's messages and collectives.
// Source: MPI: A Message-Passing Interface Standard, version 3.1, chapters 3, 5 and 6.

#include <string>
#include <string_view>

#include "backends/mpi_process/processes.h"
#include "framework/backend/communicator/communicator_backend.h"
#include "framework/backend/registry.h"

namespace assay::openmpi {
namespace {

class OpenMpi final : public CommunicatorBackend {
 public:
  std::string_view name() const override { return "openmpi"; }
  Result<Probe> Inspect() override {
    ASSAY_ASSIGN_OR_RETURN(const std::string version,
                           mpi_process::StartedVersion());
    return Probe{version, "cpu"};
  }

 private:
  Result<Ranks*> RanksWith(const Settings&) override { return &ranks_; }

  mpi_process::Processes ranks_;
};

ASSAY_REGISTER_BACKEND(OpenMpi);

}  // namespace
}  // namespace assay::openmpi

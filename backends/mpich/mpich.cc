// SPDX-License-Identifier: Apache-2.0
//
// Ranks of MPICH: processes that its mpiexec starts, with MPI's messages and
// collectives. Source: MPI: A Message-Passing Interface Standard, version 3.1,
// chapters 3, 5 and 6.

#include <string_view>

#include "backends/mpi_process/processes.h"
#include "framework/backend/registry.h"

namespace assay::mpich {
namespace {

class Mpich final : public mpi_process::MpiCommunicator {
 public:
  std::string_view name() const override { return "mpich"; }
};

ASSAY_REGISTER_COMMUNICATOR(Mpich);

}  // namespace
}  // namespace assay::mpich

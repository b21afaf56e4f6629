// SPDX-License-Identifier: Apache-2.0
//
// MpiBackend: the backend of an MPI whose ranks are processes of its launcher. A module says
// its name.
//
//   class Acme final : public MpiBackend {
//    public:
//     std::string_view name() const override { return "acme"; }
//   };

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/mpi_process/processes.h"
#include "framework/backend/communicator/communicator_backend.h"

namespace assay::mpi_process {

class MpiBackend : public CommunicatorBackend {
 public:
  Result<Probe> Inspect() final {
    ASSAY_ASSIGN_OR_RETURN(const std::string version, StartedVersion());
    return Probe{version, "cpu"};
  }

 private:
  std::vector<std::string> setting_names() const final {
    return ProcessRanks::setting_names();
  }
  Result<Ranks*> RanksWith(const Settings& settings) final {
    return ranks_.With(settings);
  }

  ProcessRanks ranks_;
};

}  // namespace assay::mpi_process

// SPDX-License-Identifier: Apache-2.0
//
// MpiCommunicator: an MPI whose ranks are processes of its launcher. A module
// says its name.
//
//   class Acme final : public MpiCommunicator {
//    public:
//     std::string_view name() const override { return "acme"; }
//   };

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/mpi_process/processes.h"
#include "framework/backend/communicator.h"

namespace assay::mpi_process {

class MpiCommunicator : public Communicator {
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

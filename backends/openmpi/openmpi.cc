// SPDX-License-Identifier: Apache-2.0
//
// Ranks of Open MPI: processes that mpiexec starts, with MPI's messages and collectives.
// Source: MPI: A Message-Passing Interface Standard, version 3.1, chapters 3, 5 and 6.

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"
#include "backends/openmpi/mpi_world.h"
#include "backends/openmpi/patience.h"
#include "framework/backend/registry.h"

namespace assay::openmpi {
namespace {

constexpr int kTags = 32768;  // that every MPI has

class MpiRanks final : public Ranks {
 public:
  bool spans_processes() const override { return true; }

  Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) override {
    ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
    if (count < 1 || count > world->size()) {
      return Unsupported(Reason::kShape, "found ", count,
                         " ranks, wanted 1 to the ", world->size(),
                         " that were launched");
    }
    runs_ = (runs_ + 1) % kTags;
    MPI_Comm group = world->First(count);
    if (group == MPI_COMM_NULL) return std::vector<RankEnd>();
    ASSAY_ASSIGN_OR_RETURN(const auto endpoint,
                           mpi_rank::MpiEndpoint::Of(group, runs_, patience_));
    return std::vector<RankEnd>{{endpoint->rank(), rank(*endpoint)}};
  }

 private:
  int runs_ = 0;
  Patience patience_;
};

class OpenMpi final : public Backend {
 public:
  std::string_view name() const override { return "openmpi"; }

  Result<Probe> Inspect() override {
    // Here, so that what MPI starts is there before the first case.
    ASSAY_RETURN_IF_ERROR(World::Get().status());
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    ASSAY_MPI(MPI_Get_library_version, text.data(), &length);
    // "Open MPI v4.1.4, package: ..."
    std::string_view version(text.data(), static_cast<size_t>(length));
    version = version.substr(0, version.find(','));
    const size_t number = version.find(" v");
    if (number != version.npos) version.remove_prefix(number + 2);
    return Probe{std::string(version), "cpu"};
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model>,
                                        const LoadOptions&) override {
    return Unsupported(Reason::kOperator,
                       "openmpi carries messages between ranks and runs no "
                       "model");
  }

  Result<Ranks*> ranks(const Settings& settings) override {
    if (settings.empty()) return &ranks_;
    return InvalidArgument("found the setting ", settings.begin()->first,
                           ", wanted none");
  }

 private:
  MpiRanks ranks_;
};

ASSAY_REGISTER_BACKEND(OpenMpi);

}  // namespace
}  // namespace assay::openmpi

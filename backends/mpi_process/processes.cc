// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_process/processes.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "backends/mpi_process/world.h"
#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"

namespace assay::mpi_process {
namespace {

constexpr int kTags = 32768;  // that every MPI has

}  // namespace

Result<std::vector<RankEnd>> Processes::Run(int count, const Rank& rank) {
  ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
  if (count < 1 || count > world->size()) {
    return Unsupported(Reason::kShape, "found ", count,
                       " ranks, wanted 1 to the ", world->size(),
                       " that were launched");
  }
  runs_ = (runs_ + 1) % kTags;
  MPI_Comm group = world->First(count);
  if (group == MPI_COMM_NULL) return std::vector<RankEnd>();
  ASSAY_ASSIGN_OR_RETURN(const auto mine,
                         mpi_rank::MpiEndpoint::Of(group, runs_, patience_));
  return std::vector<RankEnd>{
      {mine->rank(), around_ ? around_(*mine, rank) : rank(*mine)}};
}

Result<std::string> StartedVersion() {
  ASSAY_RETURN_IF_ERROR(World::Get().status());
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  ASSAY_MPI(MPI_Get_library_version, text.data(), &length);
  // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n..."
  std::string_view version(text.data(), static_cast<size_t>(length));
  constexpr std::string_view kDigits = "0123456789";
  version.remove_prefix(
      std::min(version.find_first_of(kDigits), version.size()));
  return std::string(version.substr(0, version.find_first_of(", \t\r\n")));
}

}  // namespace assay::mpi_process

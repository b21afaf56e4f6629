// SPDX-License-Identifier: Apache-2.0

#include "backends/mpi_process/processes.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

#include "backends/mpi_process/world.h"
#include "backends/mpi_rank/call.h"
#include "backends/mpi_rank/endpoint.h"

namespace assay::mpi_process {
namespace {

constexpr char kPatience[] = "patience";
// The default: half the time that a case has by default. With more ranks than
// cores a rank may compute for 10 seconds and more before it has its part of a
// large network's step.
constexpr int kSeconds = 60;
constexpr int kMostSeconds = 3600;

/// The seconds of a text from "1" to "3600"; nothing for another text.
std::optional<int> SecondsOf(std::string_view text) {
  int seconds = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  if (seconds < 1 || seconds > kMostSeconds) return std::nullopt;
  return seconds;
}

}  // namespace

Result<std::vector<RankEnd>> Processes::Run(int count, const Rank& rank) {
  ASSAY_ASSIGN_OR_RETURN(World* const world, World::Get());
  if (count < 1 || count > world->size()) {
    return Unsupported(Reason::kShape, "found ", count,
                       " ranks, wanted 1 to the ", world->size(),
                       " that were launched");
  }
  const int tag = world->NextTag();
  MPI_Comm group = world->First(count);
  if (group == MPI_COMM_NULL) return std::vector<RankEnd>();
  ASSAY_ASSIGN_OR_RETURN(const auto mine,
                         mpi_rank::MpiEndpoint::Of(group, tag, patience_));
  return std::vector<RankEnd>{
      {mine->rank(), around_ ? around_(*mine, rank) : rank(*mine)}};
}

std::vector<std::string> ProcessRanks::setting_names() { return {kPatience}; }

Result<Ranks*> ProcessRanks::With(const Settings& settings) {
  int seconds = kSeconds;
  if (const auto set = settings.find(kPatience); set != settings.end()) {
    const std::optional<int> found = SecondsOf(set->second);
    if (!found.has_value()) {
      return InvalidArgument("setting ", kPatience, " is '", set->second,
                             "', wanted whole seconds from 1 to ",
                             kMostSeconds);
    }
    seconds = *found;
  }
  const std::lock_guard lock(mutex_);
  return &ranks_.try_emplace(seconds, std::chrono::seconds(seconds), around_)
              .first->second;
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

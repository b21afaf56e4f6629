// SPDX-License-Identifier: Apache-2.0
//
// Launch: how ranks of a library come about, from launch.txt beside its module.
// A line has a word and its value: what carries messages; how many ranks there
// can be; what stands in front of the worker, without which one process has all
// ranks; the variable that tells a process its rank; and what else the
// environment has.
//
//     transport openmpi
//     most 8
//     launcher mpiexec -n {ranks}
//     rank OMPI_COMM_WORLD_RANK
//     environment OMPI_MCA_orte_tmpdir_base={scratch}

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::plan {

struct Launch {
  std::string
      transport;  // empty: the backend runs networks, and there are no ranks
  int most = std::numeric_limits<int>::max();
  std::vector<std::string> launcher;     // words
  std::string rank;                      // a variable
  std::vector<std::string> environment;  // NAME=VALUE

  bool has_ranks() const { return !transport.empty(); }
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Reads launch.txt of a folder; without that file, a launch of no ranks.
/// Invalid argument, with the line, for a word or a value that a launch does
/// not have. Invalid argument also for a file without a transport, and for one
/// with a launcher but no rank or the reverse.
Result<Launch> ReadLaunch(const std::filesystem::path& folder);

/// The words in front of a program: its environment and its launcher, for so
/// many ranks, whose files go below `scratch`. Empty where nothing launches it.
std::vector<std::string> CommandOf(const Launch& launch, int ranks,
                                   const std::filesystem::path& scratch);

/// The rank of this process, which the launcher has put into that variable of
/// the environment; 0 for a process that nothing has launched, with no
/// variable. Failed precondition where there is none, or no number from 0 on.
Result<int64_t> OwnRank(const std::string& variable);

/// Where a rank that is a process of its own prints: `acme.1.rank3.log`, beside
/// `acme.1.journal` of its worker.
std::filesystem::path LogOfRank(std::filesystem::path journal, int64_t rank);

/// Names of the logs to look into: `acme.1.log`, and those of ranks.
std::string LogNames(const Launch& launch, const std::string& stem);

}  // namespace assay::plan

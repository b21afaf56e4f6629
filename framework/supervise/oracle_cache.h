// SPDX-License-Identifier: Apache-2.0
//
// Where an oracle's answers are kept when nothing else is said.
//
//   const fs::path cache = DefaultOracleCache();

#pragma once

#include <filesystem>
#include <vector>

namespace assay::supervise {

/// Where answers are kept when nothing else is said: $XDG_CACHE_HOME, else
/// $HOME/.cache, else the folder of temporary files; below that assay/oracle.
std::filesystem::path DefaultOracleCache();

/// All folders that this may be, also where other variables are set.
std::vector<std::filesystem::path> OracleCaches();

}  // namespace assay::supervise

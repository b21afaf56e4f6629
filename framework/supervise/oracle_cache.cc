// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/oracle_cache.h"

#include <cstdlib>
#include <utility>

namespace assay::supervise {

namespace fs = std::filesystem;

std::vector<fs::path> OracleCaches() {
  std::vector<fs::path> caches;
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", ".cache")}) {
    const char* const base = std::getenv(variable);
    if (base != nullptr && fs::path(base).is_absolute()) {
      caches.push_back(
          (fs::path(base) / below / "assay/oracle").lexically_normal());
    }
  }
  if (caches.empty()) {
    caches.push_back(fs::temp_directory_path() / "assay/oracle");
  }
  return caches;
}

fs::path DefaultOracleCache() { return OracleCaches().front(); }

}  // namespace assay::supervise

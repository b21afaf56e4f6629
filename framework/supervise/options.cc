// SPDX-License-Identifier: Apache-2.0

#include "framework/supervise/options.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace assay::supervise {
namespace {

namespace fs = std::filesystem;

bool LiesIn(const fs::path& path, const fs::path& folder) {
  const auto parted = std::ranges::mismatch(folder, path);
  return parted.in1 == folder.end();
}

}  // namespace

walls::Walls WallsFor(const plan::BackendUse& backend,
                      const SuperviseOptions& options) {
  walls::Walls walls;
  const auto add = [](std::vector<std::string>* to, const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error && fs::is_directory(real)) to->push_back(real.string());
  };
  std::error_code error;
  const fs::path module = fs::canonical(backend.module, error);
  for (const fs::path& folder : options.hidden) {
    if (!LiesIn(module, fs::weakly_canonical(folder, error))) {
      add(&walls.hidden, folder);
    }
  }
  // Whatever a run uses: a later one may use another.
  for (const fs::path& cache : OracleCaches()) {
    fs::create_directories(cache, error);
    add(&walls.hidden, cache);
  }
  add(&walls.hidden, options.directory);
  add(&walls.kept, options.worker.parent_path().parent_path());
  add(&walls.kept, module.parent_path());
  add(&walls.kept, backend.policy_dir);
  for (const fs::path& folder : options.kept) add(&walls.kept, folder);
  return walls;
}

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

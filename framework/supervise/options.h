// SPDX-License-Identifier: Apache-2.0
//
// SuperviseOptions: how workers are run: how many, how long, how large, and
// behind which walls.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/file/digest.h"
#include "framework/supervise/process/worker_process.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/walls/walls.h"

namespace assay::supervise {

/// The counts of a run, while it goes on.
struct Progress {
  int64_t done = 0;
  int64_t planned = 0;
  int64_t unexpected = 0;  // of those that this process has seen
};

struct SuperviseOptions {
  std::filesystem::path worker;     // the program
  std::filesystem::path directory;  // for journals, logs and batch files
  std::string plan_digest;          // the first frame of each journal
  /// The digests of the files that the run has read.
  std::shared_ptr<const file::FileDigests> digests =
      std::make_shared<const file::FileDigests>();
  record::RunFacts facts;
  double timeout_s = 120;            // of one case
  process::WorkerLimits limits;      // of each worker
  int jobs = 1;                      // workers at a time
  int64_t cases_per_process = 1024;  // then another goes on
  bool deal = true;         // the cases of a backend to several workers
  bool in_process = false;  // backends run in their workers
  /// Folders that the process of a backend must not see, besides `directory`.
  std::vector<std::filesystem::path> hidden;
  /// Folders that it must not change, besides programs, module and policy.
  std::vector<std::filesystem::path> kept;
  bool shuffle = false;  // run them in an order drawn with the seed
  /// Unexpected results that are run again alone; none: MostRepeated
  std::optional<int> most_repeated;
  int attempts = 1;  // of a case that passes, until one does not
  /// Told after each verdict.
  std::function<void(const Progress& now)> progress;
};

/// The walls around the process of a backend (framework/testing/walls): the
/// folders that it must not see, as answers and records, and those that it
/// must not change, as programs and policies. The folder of its module is seen
/// in any case.
walls::Walls WallsFor(const plan::BackendUse& backend,
                      const SuperviseOptions& options);

/// Where answers are kept when nothing else is said: $XDG_CACHE_HOME, else
/// $HOME/.cache, else the folder of temporary files; below that assay/oracle.
std::filesystem::path DefaultOracleCache();

/// All folders that this may be, also where other variables are set.
std::vector<std::filesystem::path> OracleCaches();

}  // namespace assay::supervise

// SPDX-License-Identifier: Apache-2.0
//
// SuperviseOptions: how workers are run: how many, how long, how large.
//
//   SuperviseOptions options;
//   options.jobs = 2;

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/file/file_digests.h"
#include "framework/supervise/process/worker_limits.h"
#include "framework/testing/record/run_facts.h"

namespace assay::supervise {

/// Of a run, while it goes on.
struct Progress {
  int64_t done = 0;
  int64_t planned = 0;
  int64_t unexpected = 0;  // of those that this process has seen
};

struct SuperviseOptions {
  std::filesystem::path worker;     // the program
  std::filesystem::path directory;  // for journals, logs and batch files
  std::string plan_digest;          // the first frame of each journal
  /// Of the files that the run has read.
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
  /// Unexpected results that are run again alone; none: MostRepeated (repeat.h)
  std::optional<int> most_repeated;
  /// Told after each verdict.
  std::function<void(const Progress& now)> progress;
};

}  // namespace assay::supervise

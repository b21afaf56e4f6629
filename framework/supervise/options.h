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
#include <string>

#include "framework/supervise/process/worker_limits.h"
#include "framework/testing/file/file_digests.h"
#include "framework/testing/record/run_facts.h"

namespace assay::supervise {

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
  bool deal = true;        // the cases of a backend to several workers
  bool shuffle = false;    // run them in an order drawn with the seed
  int most_repeated = 32;  // unexpected results that are run again alone
  /// Told after each verdict: how many of how many are done.
  std::function<void(int64_t done, int64_t planned)> progress;
};

}  // namespace assay::supervise

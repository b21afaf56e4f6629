// SPDX-License-Identifier: Apache-2.0
//
// RunFacts: what a supervisor tells its workers of the run they are part of.
//
//   const RunFacts facts = {.run_id = run.run_id, .seed = 7};

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "framework/testing/record/rows.h"

namespace assay::record {

struct RunFacts {
  std::string run_id;
  int64_t seed = 0;
  int64_t attempt = 1;
  /// The steady clock at the start of the run.
  int64_t started_us = 0;
  std::map<std::string, std::string> settings;  // LoadOptions::settings
  /// The supervisor's limit for a case; 0 when there is none. Repeated draws
  /// take at most half of it.
  double case_limit_s = 120;
  /// The suite that runs every case; empty: each its own.
  std::string suite;
  /// The backend that judges where a suite needs one, and its module; empty:
  /// the run has none.
  std::string oracle;
  std::filesystem::path oracle_module;
  /// Where a suite that makes files writes them.
  std::filesystem::path output;
  /// A folder of the worker alone, which all ranks have; empty: there is none.
  std::filesystem::path scratch;
};

/// The columns of a result that the plan already knows: the one place that
/// makes a result of a planned row. Its outcome is missing until somebody gives
/// one.
ResultRow ResultOf(const PlanRow& row, const RunFacts& facts);

/// Microseconds of the steady clock.
int64_t SteadyMicroseconds();

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0
//
// The place and time of a run: the rows of env, the commit, the clock.
//
//   const RunRow run = BeginRun(plan);     // id, time, commit, hashes
//   const auto env = EnvironmentRows();

#ifndef ASSAY_CLI_SELECT_ENVIRONMENT_H_
#define ASSAY_CLI_SELECT_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

/// CPU, cores, memory, kernel, distribution, compiler; keys are stable.
std::vector<EnvRow> EnvironmentRows();

/// A row with a fresh run_id ("20261121T101500Z-1a2b3c") and all that is known
/// at the start.
RunRow BeginRun(const Plan& plan, const std::vector<EnvRow>& env);

}  // namespace assay::inline v1

#endif  // ASSAY_CLI_SELECT_ENVIRONMENT_H_

// SPDX-License-Identifier: Apache-2.0
//
// A crew: sessions that run side by side, as many at a time as there are jobs,
// until each is through or somebody stops the run.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "framework/core/status.h"
#include "framework/supervise/options.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::supervise {

/// Cases of one backend for one session.
struct Share {
  const plan::BackendUse* backend;
  std::vector<const record::PlanRow*> rows;
};

struct Crew {
  const SuperviseOptions* options;
  verdict::RawRecords* raw;
  /// Is told the counts of these shares; may be none.
  std::function<void(int64_t done, int64_t unexpected)> progress;
};

/// Runs each share in a session; the first has this number. Cancelled after
/// SIGINT or SIGTERM.
Status RunShares(std::deque<Share> waiting, int number, const Crew& crew);

/// Runs rows of one backend in their order in one session, in an empty
/// directory.
Status RunRows(const plan::BackendUse& backend,
               std::vector<const record::PlanRow*> rows,
               const SuperviseOptions& options, verdict::RawRecords* raw);

/// From now on SIGINT and SIGTERM end a Supervise in an orderly way.
void InstallStopHandlers();

}  // namespace assay::supervise

// SPDX-License-Identifier: Apache-2.0
//
// Supervise: runs the rows of a plan in workers and leaves their journals. It
// loads no backend itself, so nothing a backend does can reach it.
//
//   RawRecords raw;
//   ASSAY_RETURN_IF_ERROR(Supervise(plan, rows, options, &raw));
//   // options.directory now holds INSTANCE.1.journal and INSTANCE.1.log
//
// Where there are more workers than backends, the cases of a backend are dealt
// to several; each has a journal of its own. A case that ends its worker, or
// runs over its time limit, is recorded as crash or timeout, and the rest goes
// on in a new worker.

#ifndef ASSAY_CLI_SUPERVISOR_H_
#define ASSAY_CLI_SUPERVISOR_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/cli/worker_limits.h"
#include "framework/core/status.h"
#include "framework/testing/case_runner.h"
#include "framework/testing/plan.h"
#include "framework/testing/verdict.h"

namespace assay::inline v1 {

struct SuperviseOptions {
  std::filesystem::path worker;     // the program
  std::filesystem::path directory;  // for journals, logs and batch files
  RunFacts facts;
  double timeout_s = 120;            // of one case
  WorkerLimits limits;               // of each worker
  int jobs = 1;                      // workers at a time
  int64_t cases_per_process = 1024;  // then another goes on
  bool deal = true;        // the cases of a backend to several workers
  bool shuffle = false;    // run them in an order drawn with the seed
  int most_repeated = 32;  // unexpected results that are run again alone
  /// Told after each verdict: how many of how many are done.
  std::function<void(int64_t done, int64_t planned)> progress;
};

/// Runs the rows that the journals in the directory have no record of, repeats
/// what ended other than expected (repeat.h), and adds all records to `raw`,
/// the earlier ones too. Cancelled after SIGINT or SIGTERM: the journals then
/// hold what was finished.
Status Supervise(const Plan& plan, const std::vector<size_t>& rows,
                 const SuperviseOptions& options, RawRecords* raw);

/// Runs rows of one backend in their order in one session, in an empty
/// directory.
Status RunRows(const BackendUse& backend, std::vector<const PlanRow*> rows,
               const SuperviseOptions& options, RawRecords* raw);

/// From now on SIGINT and SIGTERM end a Supervise in an orderly way.
void InstallStopHandlers();

}  // namespace assay::inline v1

#endif  // ASSAY_CLI_SUPERVISOR_H_

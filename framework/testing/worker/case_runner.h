// SPDX-License-Identifier: Apache-2.0
//
// CaseRunner: one planned case on one backend, from files to a raw Record. The
// worker's half of a run, without GoogleTest.
//
//   CaseRunner runner(backend, {.run_id = id, .seed = 0});
//   const Record record = runner.Run(row);
//   record.result.outcome;  // "pass", "fail", "unsupported", "error", ...
//
// What passes is run again before it counts (recheck.h). After each case it
// looks at what a backend may have changed behind our back:
// rounding mode, locale, working directory and signal mask. A change makes the
// verdict `error`, reason state_changed, and is undone.

#ifndef ASSAY_TESTING_WORKER_CASE_RUNNER_H_
#define ASSAY_TESTING_WORKER_CASE_RUNNER_H_

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "framework/backend/backend.h"
#include "framework/testing/distribution/distribution.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/worker/process_state.h"

namespace assay::inline v1 {

class CaseRunner {
 public:
  /// The backend must outlive the runner.
  CaseRunner(Backend& backend, RunFacts facts);

  /// Never fails: whatever goes wrong is in the record's outcome.
  Record Run(const PlanRow& row);

 private:
  void RunData(const PlanRow& row, const Result<CaseData>& data,
               Record* record);
  void RunSets(const PlanRow& row, const CaseData& data, Record* record);
  void JudgeSet(const PlanRow& row, const CaseData& data, size_t index,
                Record* record);

  /// A first run, measured and judged under the limit that decided.
  struct Measured {
    Judgement verdict;
    std::vector<OutputMetrics> metrics;
    Limit limit;
  };
  void MeasureOracle(const PlanRow& row, size_t index, const Observation& seen,
                     const DataSet& set, const Limit& limit,
                     Record* record) const;
  Measured MeasureFirst(const PlanRow& row, const Observation& seen,
                        const CaseData& data, const DataSet& set) const;
  LoadOptions Settings() const;
  DrawPlan PlanDraws() const;

  Backend& backend_;
  RunFacts facts_;
  ProcessState state_;
};

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_WORKER_CASE_RUNNER_H_

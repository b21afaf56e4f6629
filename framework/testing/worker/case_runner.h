// SPDX-License-Identifier: Apache-2.0
//
// CaseRunner: one planned case on one backend, as its suite runs it, to a raw
// Record. The worker's half of a run, without GoogleTest.
//
// After each case CaseRunner looks at the state of its process, which the
// backend may have changed (process_state.h). A change makes the verdict
// `error`, reason state_changed, and is undone.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/testing/host/server.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"
#include "framework/testing/worker/open_backend.h"
#include "framework/testing/worker/process_state.h"

namespace assay::worker {

/// The backend as its instance in the run is set, whatever else a suite loads
/// it with.
class SetBackend : public Backend {
 public:
  SetBackend(Backend& backend, const Settings& set)
      : backend_(backend), settings_(set) {}

  std::string_view name() const override { return backend_.name(); }
  Result<Probe> Inspect() override { return backend_.InspectAs(settings_); }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override;

 private:
  Backend& backend_;
  const Settings& settings_;
};

class CaseRunner {
 public:
  /// The module must outlive the runner. The suite that the facts name runs all
  /// cases; where they name none, the suite of each case does (RunnerOf). `end`
  /// says what a case did to the backend's process; none: it runs in this one.
  CaseRunner(const Opened& opened, record::RunFacts facts,
             std::function<host::CaseEnd()> end = nullptr);
  CaseRunner(const CaseRunner&) = delete;
  CaseRunner& operator=(const CaseRunner&) = delete;

  /// Never fails: whatever goes wrong is in the record's outcome.
  record::Record Run(const record::PlanRow& row);

 private:
  const suite::Suite* RunnerOf(const record::PlanRow& row) const;
  measure::Judgement RunBy(const suite::Suite& suite,
                           const record::PlanRow& row, record::Record* record);
  measure::Judgement Judge(const record::PlanRow& row, record::Record* record);
  host::CaseEnd OwnEnd() const;

  record::RunFacts facts_;
  std::optional<SetBackend> backend_;
  Communicator* const communicator_;  // null: the cases run on a backend alone
  std::function<host::CaseEnd()> end_;
  std::optional<ProcessState> state_;  // where the backend runs here
};

}  // namespace assay::worker

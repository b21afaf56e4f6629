// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/judge.h"

#include <memory>
#include <string>
#include <vector>

#include "conformance/optimizer/run.h"
#include "framework/backend/registry.h"
#include "framework/testing/suite/suite.h"
#include "framework/train/optdiff/step_row.h"
#include "framework/train/optdiff/step_rows.h"

namespace assay::optimizer {
namespace {

/// Makes the oracle; loads its module where no module has registered it.
Result<std::unique_ptr<Backend>> OpenOracle(const record::RunFacts& facts) {
  if (facts.oracle.empty()) {
    return FailedPrecondition(
        "found no oracle of the run, wanted one that judges");
  }
  auto made = MakeBackend(facts.oracle);
  if (made.ok()) return made;
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(facts.oracle_module).status());
  return MakeBackend(facts.oracle);
}

/// The number of later steps whose rows are kept.
constexpr int64_t kParts = 10;

optdiff::StepRow NamesOf(const StepCase& step_case, const std::string& backend,
                         const std::string& oracle) {
  optdiff::StepRow row;
  row.run_a = row.backend_a = backend;
  row.run_b = row.backend_b = oracle;
  row.optimizer_a = row.optimizer_b = step_case.optimizer;
  row.preset_a = row.preset_b = step_case.preset;
  row.tier_a = ToString(step_case.tier);
  row.tier_b = "quad";
  row.network = step_case.network;
  row.mode = ToString(step_case.mode);
  return row;
}

measure::Judgement Stopped(const Status& status) {
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

}  // namespace

measure::Judgement Judge(const StepCase& step_case, Backend& backend,
                         const record::RunFacts& facts,
                         record::Record* record) {
  const auto oracle = OpenOracle(facts);
  if (!oracle.ok()) {
    return {record::Outcome::kError, oracle.status().reason(),
            oracle.status().message()};
  }
  optdiff::StepRows rows(
      NamesOf(step_case, record->result.backend, facts.oracle),
      {.every = step_case.steps() / kParts}, record);
  const int64_t began = record::SteadyMicroseconds();
  const auto verdict = RunCase(step_case, {backend, **oracle}, &rows);
  record->result.run_us = record::SteadyMicroseconds() - began;
  return verdict.ok() ? *verdict : Stopped(verdict.status());
}

}  // namespace assay::optimizer

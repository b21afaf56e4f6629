// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/suite.h"

#include "conformance/optimizer/case.h"
#include "conformance/optimizer/judge.h"
#include "conformance/optimizer/run.h"
#include "conformance/optimizer/tell.h"
#include "framework/train/optdiff/locked_run.h"

namespace assay::optimizer {
namespace {

// The plan's row becomes a case here, and nowhere else.

measure::Judgement Run(const record::PlanRow& row, Backend& backend,
                       const record::RunFacts& facts, record::Record* record) {
  const auto step_case = CaseOf(row, facts);
  if (step_case.ok()) return Judge(*step_case, backend, facts, record);
  const Status& status = step_case.status();
  return {suite::OutcomeOf(status), status.reason(), status.message()};
}

std::vector<suite::Labelled> Explain(const record::PlanRow& row,
                                     const record::RunFacts& facts,
                                     const record::Record& record) {
  const auto step_case = CaseOf(row, facts);
  return step_case.ok() ? Tell(*step_case, record)
                        : std::vector<suite::Labelled>();
}

const bool kOptimizerRegistered = suite::AddSuite(OptimizerSuite());

}  // namespace

suite::Suite OptimizerSuite() {
  return {.name = "optimizer",
          .cases = &PlannedCases,
          .derives = false,
          .needs_oracle = true,
          .run = &Run,
          .reasons = {{optdiff::kFailLoss, "the loss of a step differs"},
                      {optdiff::kFailGradient, "a gradient of a step differs"},
                      {optdiff::kFailUpdate,
                       "a step differs where its gradients are "
                       "taken as they are"},
                      {kFailGrowth,
                       "a run leaves the exact one faster than "
                       "roundings explain"}},
          .explain = &Explain};
}

}  // namespace assay::optimizer

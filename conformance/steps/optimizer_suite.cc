// SPDX-License-Identifier: Apache-2.0

#include "conformance/steps/optimizer_suite.h"

#include "conformance/optdiff/locked_run.h"
#include "conformance/steps/judge.h"
#include "conformance/steps/step_case.h"
#include "conformance/steps/step_run.h"
#include "conformance/steps/tell.h"

namespace assay::steps {
namespace {

const bool kRegistered = suite::AddSuite(OptimizerSuite());

}  // namespace

suite::Suite OptimizerSuite() {
  return {.name = "optimizer",
          .cases = &PlannedCases,
          .derives = false,
          .needs_oracle = true,
          .run = &Judge,
          .reasons = {{optdiff::kFailLoss, "the loss of a step differs"},
                      {optdiff::kFailGradient, "a gradient of a step differs"},
                      {optdiff::kFailUpdate,
                       "a step differs where its gradients are "
                       "taken as they are"},
                      {kFailGrowth,
                       "a run leaves the exact one faster than "
                       "roundings explain"}},
          .explain = &Tell};
}

}  // namespace assay::steps

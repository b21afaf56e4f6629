// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/suite.h"

#include "conformance/optimizer/case.h"
#include "conformance/optimizer/judge.h"
#include "conformance/optimizer/run.h"
#include "conformance/optimizer/tell.h"
#include "framework/train/optdiff/locked_run.h"

namespace assay::optimizer {
namespace {

const bool kOptimizerRegistered = suite::AddSuite(OptimizerSuite());

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

}  // namespace assay::optimizer

// SPDX-License-Identifier: Apache-2.0
//
// Tell: the lines of `assay explain` about a case of an optimizer.
//
//   for (const auto& [label, text] : Tell(step_case, record)) Print(label);

#pragma once

#include <vector>

#include "conformance/optimizer/case.h"
#include "framework/testing/record/record.h"
#include "framework/testing/suite/suite.h"

namespace assay::optimizer {

std::vector<suite::Labelled> Tell(const StepCase& step_case,
                                  const record::Record& record);

}  // namespace assay::optimizer

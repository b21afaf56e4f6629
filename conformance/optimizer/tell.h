// SPDX-License-Identifier: Apache-2.0
//
// Tell: the lines of `assay explain` about a case of an optimizer.
//
//   suite.explain = &Tell;

#pragma once

#include <vector>

#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::optimizer {

std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record& record);

}  // namespace assay::optimizer

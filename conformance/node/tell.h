// SPDX-License-Identifier: Apache-2.0
//
// Tell: what `assay explain` says of a case beside its verdict.
//
//   suite.explain = &Tell;

#pragma once

#include <vector>

#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::node {

/// The inputs that a pass is run with others of before it is run again.
std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record& record);

}  // namespace assay::node

// SPDX-License-Identifier: Apache-2.0
//
// A case of the suite in words: which inputs were drawn, and how.
//
//   suite.explain = &Tell;

#pragma once

#include <vector>

#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::redrawn {

/// Nothing where the files of the case are gone.
std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record& record);

}  // namespace assay::redrawn

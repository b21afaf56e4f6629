// SPDX-License-Identifier: Apache-2.0
//
// Says for `assay explain` what the rows of distributed.csv have about a case.
//
//   for (const suite::Labelled& line : Tell(row, facts, record)) {
//     Print(line.second);
//   }

#pragma once

#include <vector>

#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {

std::vector<suite::Labelled> Tell(const record::PlanRow& row,
                                  const record::RunFacts& facts,
                                  const record::Record& record);

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0
//
// The cases of the suite distributed as a plan has them.
//
//   const std::vector<cases::TestCase> cases = PlannedCases({});

#pragma once

#include <span>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/communicator.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/run_facts.h"
#include "framework/testing/suite/suite.h"

namespace assay::distributed {

std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>);

/// Cases with less of what those of the plan have: any_case.h.
suite::Sizing CaseSizing();

/// Runs one of either on `ranks`, which train networks of `networks`; unsupported
/// for a case that trains networks where that is null.
measure::Judgement RunPlanned(const record::PlanRow& row, Ranks& ranks,
                              Backend* networks, const record::RunFacts& facts,
                              record::Record* record);

}  // namespace assay::distributed

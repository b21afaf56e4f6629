// SPDX-License-Identifier: Apache-2.0
//
// RunCase: a collective over ranks of a library, whose results are compared bit
// by bit, and whose messages are counted.
//
//   const measure::Judgement judged =
//       RunCase(test_case, {*ranks, "threads", 7}, record);

#pragma once

#include "conformance/distributed/collective/collective_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Adds a row for each root. The first root that fails is the judgement, with the rank,
/// the first element that differs, and what it should be.
measure::Judgement RunCase(const CollectiveCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

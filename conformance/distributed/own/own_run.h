// SPDX-License-Identifier: Apache-2.0
//
// RunCase: a collective of the library's own, whose results are compared bit by bit, or
// with their bound where they round.
//
//   const measure::Judgement judged =
//       RunCase(test_case, {*ranks, "openmpi", 7}, record);

#pragma once

#include "conformance/distributed/own/own_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Adds a row for each root; those of a library without the collective are unsupported.
measure::Judgement RunCase(const OwnCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

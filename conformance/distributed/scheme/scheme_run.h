// SPDX-License-Identifier: Apache-2.0
//
// RunCase: ranks of a library train a model, and every rank's parameters are
// compared, bit by bit, with those of one rank that has the batches of all.
//
//   const measure::Judgement judged =
//       RunCase(test_case, {*ranks, "threads", 7}, record);

#pragma once

#include "conformance/distributed/ranks/ranks_run.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Adds a row. A fail names the rank, the step, the parameter and the element.
measure::Judgement RunCase(const SchemeCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

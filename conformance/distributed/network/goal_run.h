// SPDX-License-Identifier: Apache-2.0
//
// RunToGoal: ranks train until the digits' test set has an accuracy. A row has
// the steps, seconds and bytes until then.
//
//   record::Record record;
//   ASSAY_ASSIGN_OR_RETURN(const measure::Judgement judged,
//                          RunToGoal(test_case, run, &record));

#pragma once

#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Fails where the run does not reach the accuracy within some epochs, or where
/// ranks end after different steps. Errors as of Digits and the backend.
Result<measure::Judgement> RunToGoal(const NetworkCase& test_case,
                                     const RunOf& run, record::Record* record);

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0
//
// RunCase of a NetworkCase: trains the digits on ranks, and beside them on one
// rank with whole batches, or until the test set has an accuracy.

#pragma once

#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Runs the case on networks of RunOf::backend, which must be given.
/// Unavailable without the digits.
measure::Judgement RunCase(const NetworkCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0
//
// RunCase: trains the digits on ranks, beside one rank that has whole batches.
//
//   record::Record record;
//   const measure::Judgement judged =
//       RunCase(AllNetworkCases()[0], run, &record);

#pragma once

#include "conformance/distributed/network/network_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// On networks of RunOf::backend; unavailable without the digits.
measure::Judgement RunCase(const NetworkCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

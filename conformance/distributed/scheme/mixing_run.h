// SPDX-License-Identifier: Apache-2.0
//
// RunCase of a MixingCase: trains, and holds the ranks to what the scheme keeps.
//
//   const measure::Judgement judged =
//       RunCase(MixingCase{Gossip{}, 8}, {*ranks, "threads", 7}, record);

#pragma once

#include "conformance/distributed/ranks/ranks_run.h"
#include "conformance/distributed/scheme/mixing_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Adds a row. Rules by scheme:
///
///   gossip         keeps the mean of all ranks, and shrinks every wave over the
///                  ranks by the factor of its graph, both within 1e-12
///   push_sum       brings all ranks to the mean
///   ad_psgd        keeps the sum of all ranks bit by bit, and brings all to the
///                  mean in rounds that all of them end
///   async_server   counts every gradient once, none staler than its slack
///                  permits
measure::Judgement RunCase(const MixingCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

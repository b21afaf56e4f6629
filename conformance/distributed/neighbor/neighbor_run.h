// SPDX-License-Identifier: Apache-2.0
//
// RunCase: an exchange with neighbours, whose blocks are compared bit by bit.
//
//   const measure::Judgement judged =
//       RunCase(test_case, {*ranks, "openmpi", 7}, record);

#pragma once

#include "conformance/distributed/neighbor/neighbor_case.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

/// Adds a row; unsupported of a library without the exchange. Where all ranks' libraries
/// count their messages, each has one for each edge to another rank, as long as its block.
measure::Judgement RunCase(const NeighborCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

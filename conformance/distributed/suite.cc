// SPDX-License-Identifier: Apache-2.0
//
// The suite `distributed`, of libraries that carry messages between ranks.

#include "framework/testing/suite/suite.h"

#include "conformance/distributed/case.h"
#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"

namespace assay::distributed {
namespace {

const bool kDistributedRegistered = suite::AddSuite(
    {.name = "distributed",
     .cases = &PlannedCases,
     .derives = false,
     .run_ranks = &RunPlanned,
     .reasons = {{kFailRanks, "a rank did not come to its end"},
                 {kFailBits, "a rank has other bits than it should"},
                 {kFailCost,
                  "ranks sent other bytes or messages than the formula of "
                  "the algorithm says"},
                 {kFailMixing,
                  "what ranks mix is not kept, or is staler than its "
                  "bound"},
                 {kFailNear,
                  "ranks train away from one that has their batches"}},
     .explain = &Tell,
     .sizing = CaseSizing()});

}  // namespace
}  // namespace assay::distributed

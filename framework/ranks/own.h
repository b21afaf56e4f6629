// SPDX-License-Identifier: Apache-2.0
//
// Runs a collective of the library's own on the buffer that a rank has in a
// schedule (ElementsOf), so that both are judged by the same right answer.
//
//   Status SumOfAll(Endpoint& mine, const Collective& what, Tensor* buffer) {
//     return RunOwn(what, Reduction::kSum, mine, buffer);
//   }

#pragma once

#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/schedule.h"

namespace assay::ranks {

/// The parts of a rank's buffer that are input and output of the library's
/// call.
struct OwnParts {
  Part in, out;
};

/// In place where the operation allows it: the two are equal, or one contains
/// the other, but for all-to-all. `algorithm` is ignored.
OwnParts OwnPartsOf(const Collective& what, int rank);

/// The rank's call, whose spans point into `buffer`. Invalid argument where the
/// buffer has other elements than the collective, or its root is no rank.
Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer);

/// Runs the call of OwnCallOf. Errors as of OwnCallOf and Endpoint::Collect;
/// invalid argument for another number of ranks than the endpoint's.
Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer);

}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0
//
// A collective of the library's own, on the one buffer that a rank has in a schedule
// (ElementsOf), so that both are judged alike.
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

/// Where a rank's input and output stand in its buffer.
struct OwnParts {
  Part in, out;
};

/// They are the same, or one lies in the other, but those of all-to-all. The algorithm of
/// the collective is nobody's here.
OwnParts OwnPartsOf(const Collective& what, int rank);

/// The call of a rank, whose memory is that of the buffer. Invalid argument where the
/// buffer has other elements than the collective, or its root is no rank.
Result<CollectiveCall> OwnCallOf(const Collective& what, Reduction reduction,
                                 int rank, Tensor* buffer);

/// Runs it. As OwnCallOf and Endpoint::Collect decline.
Status RunOwn(const Collective& what, Reduction reduction, Endpoint& endpoint,
              Tensor* buffer);

}  // namespace assay::ranks

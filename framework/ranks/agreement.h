// SPDX-License-Identifier: Apache-2.0
//
// CheckAlike: whether all ranks are about to do the same. Ranks that are not would wait
// for each other, or add what does not belong together.
//
//   ASSAY_RETURN_IF_ERROR(CheckAlike({++number, what, Reduction::kSum,
//                                     buffer.dtype()}, mine));

#pragma once

#include <cstdint>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/ranks/collective.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/reduction.h"

namespace assay::ranks {

struct Call {
  int64_t number = 0;  // of this rank's collectives
  Collective what;
  Reduction reduction = Reduction::kSum;
  DType type = DType::kUndefined;
};

/// Around the ring once. Each rank gets the same failed precondition where two differ:
/// the first that is not as rank 0, with what both do.
Status CheckAlike(const Call& call, Endpoint& endpoint);

}  // namespace assay::ranks

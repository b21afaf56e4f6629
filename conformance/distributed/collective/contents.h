// SPDX-License-Identifier: Apache-2.0
//
// The contents of the ranks' buffers before a collective, and the right ones
// after it.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<Tensor> before,
//                          ContentsOf(test_case, /*root=*/2, seed));
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<Wanted> wanted,
//                          WantedOf(test_case, /*root=*/2, before));

#pragma once

#include <cstdint>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/ranks/schedule.h"

namespace assay::distributed {

/// A buffer for each rank (ranks::ElementsOf). No two ranks have the same
/// contents, and no whole number is 0, so that a lost, doubled or misplaced
/// element shows. `first_rank` numbers the first rank of this set, where a case
/// has several.
Result<std::vector<Tensor>> ContentsOf(const CollectiveCase& test_case,
                                       int64_t seed, int first_rank = 0);

/// A rank's right buffer, in these parts; elsewhere it may have anything.
struct Wanted {
  Tensor buffer;
  std::vector<ranks::Part> judged;
};

/// The right buffers: whole numbers by the definition of the operation, which
/// knows no algorithm; drawn ones by the algorithm's tree, all ranks in one
/// thread (ranks::RunTogether).
Result<std::vector<Wanted>> WantedOf(const CollectiveCase& test_case, int root,
                                     const std::vector<Tensor>& before);

}  // namespace assay::distributed

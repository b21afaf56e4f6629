// SPDX-License-Identifier: Apache-2.0
//
// What ranks have in their buffers before a collective, and what they should have behind
// it.
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

/// A buffer for each rank (ranks::ElementsOf). No two ranks have the same, and whole
/// numbers are none of them 0: what is lost, taken twice or exchanged shows. The first rank
/// is another one where there are several sets of them.
Result<std::vector<Tensor>> ContentsOf(const CollectiveCase& test_case,
                                       int64_t seed, int first_rank = 0);

/// What a rank should have in these parts of its buffer; elsewhere it may have anything.
struct Wanted {
  Tensor buffer;
  std::vector<ranks::Part> judged;
};

/// By the definition of the operation, which knows no algorithm, for whole numbers; for
/// drawn ones by the algorithm's tree, all ranks in one thread (ranks::RunTogether).
Result<std::vector<Wanted>> WantedOf(const CollectiveCase& test_case, int root,
                                     const std::vector<Tensor>& before);

}  // namespace assay::distributed

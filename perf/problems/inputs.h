// SPDX-License-Identifier: Apache-2.0
//
// Numbers for a problem's model.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto inputs, DrawInputs(problem, made, key));

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "perf/problems/cut.h"
#include "perf/problems/make_problem.h"
#include "perf/problems/problem.h"

namespace assay::problems {

/// Those of float32 are uniform in [-1, 1); the weights of a recurrent layer
/// over the root of its width, so that no state grows with the steps. An
/// integer is a row of a table, which an input of two axes is. Another key,
/// other numbers. Unsupported, reason dtype, for other types.
Result<std::vector<Value>> DrawInputs(const Problem& problem, const Made& made,
                                      uint64_t key);

/// Taken of these inputs, by input, without the others being made.
Result<std::vector<Value>> DrawAt(const Problem& problem, const Made& made,
                                  uint64_t key, std::span<const Places> places);

}  // namespace assay::problems

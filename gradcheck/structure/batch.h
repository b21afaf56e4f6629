// SPDX-License-Identifier: Apache-2.0
//
// Where the examples of a batch have nothing to do with each other, the
// gradient by their data in another order is the gradient in that order, and
// that by weights stays: nothing may depend on an example that came before.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

/// Along which axis the examples lie in each input and output of a model; -1
/// where a value belongs to no example.
struct BatchAxes {
  std::vector<int> inputs;
  std::vector<int> outputs;
};

/// The batch axes of a model of one node whose operator has independent
/// examples; nothing for any other model. `inputs` are as Bind takes them.
std::optional<BatchAxes> BatchAxesOf(const Graph& graph,
                                     std::span<const Value> inputs);

/// Runs the first binding with the examples, and the cotangents, in reverse
/// order, and then with its own inputs again. Empty where the gradients are
/// those that were judged, in that order, or where there are no two examples.
Result<std::string> ReversedBatchFault(Trial& trial, const Judged& judged);

}  // namespace assay::gradcheck

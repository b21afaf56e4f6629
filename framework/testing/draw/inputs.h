// SPDX-License-Identifier: Apache-2.0
//
// Other inputs for a model, which it can be run on as on its own.
//
//   Draw draw(row.test_id, facts.seed, "inputs");
//   ASSAY_ASSIGN_OR_RETURN(
//       const auto inputs,
//       DrawnInputs(graph, KindsOf(graph), set.inputs, draw));
//
// An input is of the kind that the operators that read it say (input_kind.h).
// Between several nodes nobody says what becomes of an integer: it is kept.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/draw/input_kind.h"

namespace assay::draw {

/// Other sizes for an input of kind kSize, positive where its own are: 1 for 2
/// and the reverse, 3 for 4. Nothing where none is, or where it is not of
/// integers.
std::optional<Tensor> OtherSizes(const Tensor& sizes);

/// By the names of inputs.
using InputKinds = std::map<std::string, InputKind, std::less<>>;

InputKinds KindsOf(const Graph& graph);

/// Floating-point numbers are drawn as Redrawn does, integers from the least to
/// the greatest of the input and no 0 where it has none; what has no such
/// range, as booleans, strings and narrow floats, from the input's own
/// elements. Sequences and optionals are drawn element by element. An input
/// without a kind is kept.
Result<std::vector<Value>> DrawnInputs(const Graph& graph,
                                       const InputKinds& kinds,
                                       std::span<const Value> inputs,
                                       Draw& draw);

}  // namespace assay::draw

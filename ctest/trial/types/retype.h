// SPDX-License-Identifier: Apache-2.0
//
// Retype: turns a case of one element type into one of another type that its
// operator permits. So a corpus that tries an operator with float32 asks if a
// backend takes it with every type; the right outputs are then not known.
//
//   // Relu of float32 -> Relu of float16, its inputs converted.
//   ASSAY_ASSIGN_OR_RETURN(RetypedCase half, Retype(graph, inputs, 0,
//                                                   DType::kFloat16));

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"

namespace assay::retype {

struct RetypedCase {
  Graph graph;
  std::vector<Value> inputs;
};

/// True when cases of this graph can be retyped: one node of ONNX's own, in its
/// operator's current version, whose values have known types.
bool IsRetypable(const Graph& graph);

/// The type that variable `variable` of the graph's node is bound to; nothing
/// when no value of the node has it.
std::optional<ValueType> BoundType(const Graph& graph, int variable);

/// The case with the element type of all values of that variable changed: their
/// declared types, inputs, initializers, and the attributes that name or have
/// the type. Unsupported where only outputs have it and no attribute says it.
Result<RetypedCase> Retype(const Graph& graph, std::span<const Value> inputs,
                           int variable, DType type);

/// The numbers of a tensor in another type: rounded to nearest, clamped to what
/// the type has, and truncated to integers. Strings are what the numbers print
/// as, and are read as numbers where they start with one, else as their length.
Tensor ConvertTensor(const Tensor& tensor, DType type);

}  // namespace assay::retype

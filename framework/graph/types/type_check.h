// SPDX-License-Identifier: Apache-2.0
//
// CheckTypes: holds the nodes of a graph against the types that their operators
// permit.
//
//   ASSAY_RETURN_IF_ERROR(CheckTypes(graph));
//   // "Add 'sum': input 1 is int64, wanted float32 as input 0, both being T"

#pragma once

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::types {

/// Invalid argument for a node of ONNX's own domains with an input or output of
/// a kind or element type that its schema does not permit, or of another one
/// than its type variable has elsewhere in the node. Values of unknown type and
/// subgraphs are passed over. The first call starts ONNX's schema registry.
Status CheckTypes(const Graph& graph);

}  // namespace assay::types

// SPDX-License-Identifier: Apache-2.0
//
// Checks of a model: what ONNX's own checker says of it, and its nodes held
// against the types that their operators permit.
//
//   ASSAY_RETURN_IF_ERROR(CheckModel(*model));
//   ASSAY_RETURN_IF_ERROR(CheckTypes(model->graph()));
//   // "Add 'sum': input 1 is int64, wanted float32 as input 0, both being T"

#pragma once

#include <span>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/graph/operator.h"

namespace assay::types {

/// Invalid argument, in ONNX's words, for a model that its checker refuses. The
/// checker is not asked about a model that says it is checked, nor about one of
/// an IR version that it does not know, nor about one with external data, which
/// it would look for elsewhere; and not about functions of another opset than
/// the model's, which we inline. A deprecated operator, which has a current
/// form, is let through. The first call costs the start of ONNX's schema
/// registry (8 to 17 ms).
Status CheckModel(const Model& model);

/// Invalid argument for a node of ONNX's own domains with an input or output of
/// a kind or element type that its schema does not permit, or of another one
/// than its type variable has elsewhere in the node. Values of unknown type and
/// subgraphs are passed over. The first call starts ONNX's schema registry.
Status CheckTypes(const Graph& graph);

/// True where each output of an operator that may be float32 at an opset may be
/// of that type, too. Says nothing against the current version, whose
/// SignatureOf tells; for an older one the first call starts ONNX's schema
/// registry.
bool OutputsPermit(OperatorId id, int opset, DType type);

/// Invalid argument for inputs of these shapes, in the order of the graph's,
/// that contradict each other or the model by ONNX's shape inference: the first
/// node that says so, with the types that it reads. Types that the model states
/// of inner values are not asked; nothing is said of a model that is
/// contradictory by itself.
Status CheckShapes(const Model& model, std::span<const Shape> inputs);

}  // namespace assay::types

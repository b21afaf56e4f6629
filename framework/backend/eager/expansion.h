// SPDX-License-Identifier: Apache-2.0
//
// Expansion: where no kernel takes a node, the body of its operator's function
// in ONNX's schema stands in for it.
//
//   ASSAY_ASSIGN_OR_RETURN(Graph graph, ExpandDeclined(typed, nullptr, {},
//                                                      kernels, options));
//
// A node of a body that is declined is expanded in turn. A node that was
// declined for want of the operator is expanded always, and the error says what
// its body lacks; one that was declined for another reason (an element type, an
// attribute) only when its whole body loads, else that first reason stands.

#pragma once

#include <vector>

#include "framework/backend/eager/compile.h"

namespace assay::eager {

/// `graph` with every node that is declined replaced, in its subgraphs too.
/// Parameters as Compile. Errors name the node.
Result<Graph> ExpandDeclined(const Graph& graph, const LoadScope* outer,
                             const std::vector<bool>& parameters,
                             const KernelSource& kernels,
                             const LoadOptions& options);

}  // namespace assay::eager

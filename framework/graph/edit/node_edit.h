// SPDX-License-Identifier: Apache-2.0
//
// Nodes of a model added, replaced and set, in ONNX's text form.
//
//   ASSAY_ASSIGN_OR_RETURN(auto more, AddNodes(*model, "p = Softmax(y)"));
//   ASSAY_ASSIGN_OR_RETURN(auto both, AddOutput(*more, "p"));
//   ASSAY_ASSIGN_OR_RETURN(auto elu, ReplaceNode(*both, "h", "h = Elu(x)"));
//   ASSAY_ASSIGN_OR_RETURN(
//       auto set, SetAttribute(*elu, "h", {.name = "alpha", .held = 0.5F}));
//
// A node has no name for sure: it is named by a value that it computes.

#pragma once

#include <memory>
#include <string_view>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::edit {

// All are of the main graph, and leave what they do not name as it is. Each
// gives invalid argument where the result is no model that ONNX's checker
// accepts.

/// The model with nodes behind its own, which may read any of its values.
/// Invalid argument, with the parser's words, for a wrong text.
Result<std::shared_ptr<const Model>> AddNodes(const Model& model,
                                              std::string_view nodes);

/// The model with one more output, last: a value that it has, of the type that
/// inference finds. Not found for a value that there is not; invalid argument
/// for one that is an output, and for one of an unknown type.
Result<std::shared_ptr<const Model>> AddOutput(const Model& model,
                                               std::string_view value);

/// The model with other nodes in the place of the one that computes `value`.
/// The new nodes compute all that others read of the old one. Not found where
/// no node computes `value`.
Result<std::shared_ptr<const Model>> ReplaceNode(const Model& model,
                                                 std::string_view value,
                                                 std::string_view nodes);

/// The model whose node that computes `value` has the attribute, added or in
/// the place of one of its name. Not found where no node computes it.
Result<std::shared_ptr<const Model>> SetAttribute(const Model& model,
                                                  std::string_view value,
                                                  const Attribute& attribute);

}  // namespace assay::edit

// SPDX-License-Identifier: Apache-2.0
//
// Models written in ONNX's text form, for tests and suites.
//
//   ASSAY_ASSIGN_OR_RETURN(auto model, ParseModelText(
//       "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"));
//
// The text form is that of onnx.parser (docs/Syntax.md of ONNX).

#pragma once

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::graph {

/// The model of a graph, which functions may follow. It imports `opset` of
/// ai.onnx, 0 being the newest, version 1 of the domain "test", and where the
/// text names them that of "assay.dist" (dist/native) and the newest of ONNX's
/// others. Invalid argument with the parser's words for a wrong text.
Result<std::shared_ptr<const Model>> ParseModelText(std::string_view graph,
                                                    int opset = 0);

/// The same of a text that is known to be right: throws std::invalid_argument
/// with the parser's words where it is not.
inline std::shared_ptr<const Model> ModelOfText(std::string_view graph,
                                                int opset = 0) {
  auto model = ParseModelText(graph, opset);
  if (!model.ok()) throw std::invalid_argument(model.status().ToString());
  return *std::move(model);
}

}  // namespace assay::graph

// SPDX-License-Identifier: Apache-2.0
//
// Models for tests, written in ONNX's text form.
//
//   const auto model = ModelOfText(
//       "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }");
//
// The newest opset and the domain "test" are imported.

#ifndef ASSAY_BACKEND_ONNX_TEXT_H_
#define ASSAY_BACKEND_ONNX_TEXT_H_

#include <memory>
#include <string>

#include "framework/graph/model.h"

namespace assay::inline v1 {

/// The serialized model of a graph in text form; throws std::invalid_argument
/// with the parser's message when the text is wrong.
std::string BytesOfText(const std::string& graph, int opset = 0);

/// The model, read back from those bytes; throws when it cannot be read.
std::shared_ptr<const Model> ModelOfText(const std::string& graph,
                                         int opset = 0);

}  // namespace assay::inline v1

#endif  // ASSAY_BACKEND_ONNX_TEXT_H_

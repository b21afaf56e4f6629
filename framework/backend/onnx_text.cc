// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/onnx_text.h"

#include <span>
#include <stdexcept>

#include "framework/graph/operator.h"
#include "onnx/defs/parser.h"

namespace assay::inline v1 {

std::string BytesOfText(const std::string& graph, int opset) {
  if (opset == 0) opset = NewestOpset("");
  const std::string text =
      StrCat("<ir_version: 10, opset_import: [\"\" : ", opset,
             ", \"test\" : 1]>\n", graph);
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) throw std::invalid_argument(status.ErrorMessage());
  return model.SerializeAsString();
}

std::shared_ptr<const Model> ModelOfText(const std::string& graph, int opset) {
  const std::string bytes = BytesOfText(graph, opset);
  auto model = Model::Parse(std::as_bytes(std::span(bytes)));
  if (!model.ok()) throw std::invalid_argument(model.status().ToString());
  return *model;
}

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/model_text.h"

#include <span>

#include "framework/graph/operator.h"
#include "onnx/defs/parser.h"

namespace assay::graph {
namespace {

constexpr int kIrVersion = 10;

}  // namespace

Result<std::shared_ptr<const Model>> ParseModelText(std::string_view graph,
                                                    int opset) {
  if (opset == 0) opset = NewestOpset("");
  // Some runtimes refuse a model for a domain that it imports without need.
  std::string others;
  for (const DomainInfo& other : Domains()) {
    if (other.domain.empty()) continue;
    if (graph.find(other.domain) == std::string_view::npos) continue;
    others += StrCat(", \"", other.domain, "\" : ", other.newest_opset);
  }
  constexpr std::string_view kOfRanks = "assay.dist";
  if (graph.find(kOfRanks) != std::string_view::npos) {
    others += StrCat(", \"", kOfRanks, "\" : 1");
  }
  const std::string text =
      StrCat("<ir_version: ", kIrVersion, ", opset_import: [\"\" : ", opset,
             ", \"test\" : 1", others, "]>\n", graph);
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  if (!status.IsOK()) return InvalidArgument(status.ErrorMessage());
  const std::string bytes = model.SerializeAsString();
  return Model::Parse(std::as_bytes(std::span(bytes)));
}

}  // namespace assay::graph

// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/check.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <exception>
#include <string_view>

#include "framework/graph/reader/onnx_reader.h"
#include "onnx/checker.h"

namespace assay::types {
namespace {

bool IsExternal(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

template <class Nodes>
bool HoldExternal(const Nodes& nodes);

bool HoldsExternal(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.initializer(), IsExternal) ||
         HoldExternal(graph.node());
}

template <class Nodes>
bool HoldExternal(const Nodes& nodes) {
  for (const onnx::NodeProto& node : nodes) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t() && IsExternal(attribute.t())) return true;
      if (attribute.has_g() && HoldsExternal(attribute.g())) return true;
    }
  }
  return false;
}

bool MayAsk(const onnx::ModelProto& model) {
  if (model.ir_version() > onnx::IR_VERSION) return false;
  for (const onnx::FunctionProto& function : model.functions()) {
    if (HoldExternal(function.node())) return false;
  }
  return !HoldsExternal(model.graph());
}

}  // namespace
Status CheckModel(const Model& model) {
  if (model.checked()) return OkStatus();
  google::protobuf::Arena arena;
  auto* const proto =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), *proto));
  if (!MayAsk(*proto)) return OkStatus();
  try {
    onnx::checker::check_model(*proto, /*full_check=*/false,
                               /*skip_opset_compatibility_check=*/true);
  } catch (const std::exception& error) {
    // A deprecated operator is no error: ToCurrentOpset replaces it.
    const std::string_view words = error.what();
    if (words.find("is deprecated in domain_version") != words.npos) {
      return OkStatus();
    }
    return InvalidArgument("ONNX's checker: ", error.what());
  }
  return OkStatus();
}

}  // namespace assay::types

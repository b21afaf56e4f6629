// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/whole_model.h"

#include <filesystem>
#include <limits>
#include <string_view>

#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

namespace fs = std::filesystem;

/// Puts external data into the tensors of a message, at any depth.
class Inliner {
 public:
  explicit Inliner(const fs::path& directory) : external_(directory) {}

  Status Inline(onnx::GraphProto* graph) const {
    for (auto& tensor : *graph->mutable_initializer()) {
      ASSAY_RETURN_IF_ERROR(Inline(&tensor));
    }
    for (auto& sparse : *graph->mutable_sparse_initializer()) {
      ASSAY_RETURN_IF_ERROR(Inline(&sparse));
    }
    for (auto& node : *graph->mutable_node()) {
      ASSAY_RETURN_IF_ERROR(Inline(&node));
    }
    return OkStatus();
  }

  Status Inline(onnx::NodeProto* node) const {
    for (auto& attribute : *node->mutable_attribute()) {
      if (attribute.has_t())
        ASSAY_RETURN_IF_ERROR(Inline(attribute.mutable_t()));
      if (attribute.has_sparse_tensor()) {
        ASSAY_RETURN_IF_ERROR(Inline(attribute.mutable_sparse_tensor()));
      }
      if (attribute.has_g())
        ASSAY_RETURN_IF_ERROR(Inline(attribute.mutable_g()));
      for (auto& tensor : *attribute.mutable_tensors()) {
        ASSAY_RETURN_IF_ERROR(Inline(&tensor));
      }
      for (auto& sparse : *attribute.mutable_sparse_tensors()) {
        ASSAY_RETURN_IF_ERROR(Inline(&sparse));
      }
      for (auto& graph : *attribute.mutable_graphs()) {
        ASSAY_RETURN_IF_ERROR(Inline(&graph));
      }
    }
    return OkStatus();
  }

 private:
  Status Inline(onnx::SparseTensorProto* sparse) const {
    ASSAY_RETURN_IF_ERROR(Inline(sparse->mutable_values()));
    return Inline(sparse->mutable_indices());
  }

  Status Inline(onnx::TensorProto* tensor) const {
    if (tensor->data_location() != onnx::TensorProto::EXTERNAL) {
      return OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const Tensor read,
                           reader::ReadTensor(*tensor, external_));
    tensor->clear_external_data();
    tensor->clear_data_location();
    const auto bytes = read.bytes();
    tensor->set_raw_data(bytes.data(), bytes.size());
    return OkStatus();
  }

  reader::External external_;
};

}  // namespace

Result<std::string> WholeModel(const Model& model) {
  // The name of the field that says where the data is.
  const auto own = model.bytes();
  const std::string_view text(reinterpret_cast<const char*>(own.data()),
                              own.size());
  if (model.directory().empty() ||
      text.find("location") == std::string_view::npos) {
    return std::string();
  }
  google::protobuf::Arena arena;
  auto* const proto =
      google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(own, *proto));
  const Inliner inliner(model.directory());
  ASSAY_RETURN_IF_ERROR(inliner.Inline(proto->mutable_graph()));
  for (auto& function : *proto->mutable_functions()) {
    for (auto& node : *function.mutable_node()) {
      ASSAY_RETURN_IF_ERROR(inliner.Inline(&node));
    }
  }
  if (proto->ByteSizeLong() > std::numeric_limits<int>::max()) {
    return ResourceExhausted("the model takes ", proto->ByteSizeLong(),
                             " bytes with its external data, wanted 2 GiB at "
                             "most");
  }
  return proto->SerializeAsString();
}

}  // namespace assay::edit

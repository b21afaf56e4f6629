// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/whole_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>

#include "framework/core/text.h"
#include "framework/graph/onnx_writer.h"
#include "framework/graph/reader/onnx_reader.h"

namespace assay::edit {
namespace {

namespace fs = std::filesystem;

constexpr char kLocation[] = "location";

size_t Aligned(size_t offset) { return (offset + 63) / 64 * 64; }

bool IsExternal(const onnx::TensorProto& tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

/// False where no tensor can be in external data: none says where it is.
bool MayHaveExternalData(const Model& model) {
  const auto own = model.bytes();
  const std::string_view text(reinterpret_cast<const char*>(own.data()),
                              own.size());
  return !model.directory().empty() &&
         text.find(kLocation) != std::string_view::npos;
}

/// Puts external data into the tensors of a message, at any depth.
class Inliner {
 public:
  explicit Inliner(const fs::path& directory) : external_(directory) {}

  template <class Messages>
  Status InlineAll(Messages* messages) const {
    for (auto& message : *messages) ASSAY_RETURN_IF_ERROR(Inline(&message));
    return OkStatus();
  }

  Status Inline(onnx::GraphProto* graph) const {
    ASSAY_RETURN_IF_ERROR(InlineAll(graph->mutable_initializer()));
    ASSAY_RETURN_IF_ERROR(InlineAll(graph->mutable_sparse_initializer()));
    return InlineAll(graph->mutable_node());
  }

 private:
  Status Inline(onnx::NodeProto* node) const {
    return InlineAll(node->mutable_attribute());
  }

  Status Inline(onnx::AttributeProto* attribute) const {
    if (attribute->has_t()) {
      ASSAY_RETURN_IF_ERROR(Inline(attribute->mutable_t()));
    }
    if (attribute->has_sparse_tensor()) {
      ASSAY_RETURN_IF_ERROR(Inline(attribute->mutable_sparse_tensor()));
    }
    if (attribute->has_g()) {
      ASSAY_RETURN_IF_ERROR(Inline(attribute->mutable_g()));
    }
    ASSAY_RETURN_IF_ERROR(InlineAll(attribute->mutable_tensors()));
    ASSAY_RETURN_IF_ERROR(InlineAll(attribute->mutable_sparse_tensors()));
    return InlineAll(attribute->mutable_graphs());
  }

  Status Inline(onnx::SparseTensorProto* sparse) const {
    ASSAY_RETURN_IF_ERROR(Inline(sparse->mutable_values()));
    return Inline(sparse->mutable_indices());
  }

  Status Inline(onnx::TensorProto* tensor) const {
    if (!IsExternal(*tensor)) return OkStatus();
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

/// The serialized message with the model's external data in it.
Result<std::string> Inlined(const Model& model, onnx::ModelProto* proto) {
  const Inliner inliner(model.directory());
  ASSAY_RETURN_IF_ERROR(inliner.Inline(proto->mutable_graph()));
  for (auto& function : *proto->mutable_functions()) {
    ASSAY_RETURN_IF_ERROR(inliner.InlineAll(function.mutable_node()));
  }
  if (proto->ByteSizeLong() > std::numeric_limits<int>::max()) {
    return ResourceExhausted("the model takes ", proto->ByteSizeLong(),
                             " bytes with its external data, wanted 2 GiB at "
                             "most");
  }
  return proto->SerializeAsString();
}

/// The value of an initializer as the model was read.
const Tensor& ValueOf(const Model& model, const onnx::TensorProto& tensor) {
  const Graph& graph = model.graph();
  return *graph.FindInitializer(graph.FindValue(tensor.name()))->tensor();
}

/// Makes inputs of the initializers in external data.
void PutBeside(const Model& model, onnx::GraphProto* graph,
               std::map<std::string, Tensor>* beside) {
  for (const onnx::TensorProto& tensor : graph->initializer()) {
    if (!IsExternal(tensor)) continue;
    const Tensor& value = ValueOf(model, tensor);
    beside->emplace(tensor.name(), value);
    const auto& inputs = graph->input();
    if (std::ranges::find(inputs, tensor.name(), [](const auto& i) {
          return i.name();
        }) == inputs.end()) {
      graph::WriteInfo(tensor.name(), ValueType::OfTensor(value),
                       *graph->add_input());
    }
  }
  graph::EraseIf(graph->mutable_initializer(), IsExternal);
}

/// Leaves out the domains that no node is of: some runtimes refuse others.
void DropUnusedDomains(const Model& model, onnx::ModelProto* proto) {
  std::set<std::string> used = {""};
  const auto look = [&](const Graph& graph) {
    for (const Node& node : graph.nodes) used.insert(node.domain);
  };
  ForEachGraph(model.graph(), look);
  for (const Function& function : model.functions()) {
    used.insert(function.domain);
    ForEachGraph(*function.body, look);
  }
  graph::EraseIf(proto->mutable_opset_import(), [&](const auto& each) {
    return each.domain() != "ai.onnx" && !used.contains(each.domain());
  });
}

}  // namespace

Result<std::string> WholeModel(const Model& model) {
  if (!MayHaveExternalData(model)) return std::string();
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  return Inlined(model, &message.proto);
}

Result<Parted> PartedModel(const Model& model, uint64_t most) {
  Parted parted;
  if (!MayHaveExternalData(model)) return parted;
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::GraphProto* const graph = message.proto.mutable_graph();
  uint64_t size = model.bytes().size();
  for (const onnx::TensorProto& tensor : graph->initializer()) {
    if (!IsExternal(tensor)) continue;
    size += static_cast<uint64_t>(ValueOf(model, tensor).byte_size());
  }
  if (size > most) PutBeside(model, graph, &parted.beside);
  ASSAY_ASSIGN_OR_RETURN(parted.bytes, Inlined(model, &message.proto));
  return parted;
}

std::string ExternalData(const NamedTensors& tensors) {
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    data.resize(Aligned(data.size()));
    const auto bytes = tensor.bytes();
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return data;
}

Result<std::string> WithDataIn(const std::string& location, const Model& model,
                               const NamedTensors& tensors) {
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), proto));
  DropUnusedDomains(model, &proto);
  onnx::GraphProto* const graph = proto.mutable_graph();
  size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    auto& inputs = *graph->mutable_input();
    const auto input =
        std::ranges::find(inputs, name, [](const auto& i) { return i.name(); });
    if (input == inputs.end()) {
      return NotFound("'", name, "' is no input of the graph");
    }
    inputs.erase(input);
    offset = Aligned(offset);
    onnx::TensorProto* const written = graph->add_initializer();
    written->set_name(name);
    written->set_data_type(static_cast<int>(tensor.dtype()));
    for (const int64_t extent : tensor.shape()) written->add_dims(extent);
    written->set_data_location(onnx::TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
      onnx::StringStringEntryProto* const entry = written->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add(kLocation, location);
    add("offset", StrCat(offset));
    add("length", StrCat(tensor.byte_size()));
    offset += static_cast<size_t>(tensor.byte_size());
  }
  return proto.SerializeAsString();
}

Result<std::vector<std::string>> ExternalFiles(const Model& model) {
  onnx::ModelProto proto;
  ASSAY_RETURN_IF_ERROR(reader::ParseInto(model.bytes(), proto));
  std::vector<std::string> files;
  for (const onnx::TensorProto& tensor : proto.graph().initializer()) {
    for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
      const bool is_new =
          std::ranges::find(files, entry.value()) == files.end();
      if (entry.key() == kLocation && is_new) files.push_back(entry.value());
    }
  }
  return files;
}

}  // namespace assay::edit

// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/edit/model_edit.h"

#include <google/protobuf/io/coded_stream.h>

#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "framework/graph/edit/whole_model.h"
#include "framework/graph/onnx_writer.h"
#include "framework/graph/operator.h"
#include "framework/graph/reader/onnx_reader.h"
#include "framework/graph/types/check.h"
#include "framework/graph/types/signature.h"
#include "onnx/defs/schema.h"

namespace assay::edit {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;

using Coded = google::protobuf::io::CodedOutputStream;

Status CheckNumbers(const Tensor& tensor, const std::string& name) {
  if (tensor.dtype() != DType::kString && tensor.defined()) return OkStatus();
  return InvalidArgument("found ", tensor.Signature(), " for '", name,
                         "', wanted a tensor of numbers");
}

void AppendTag(std::string* bytes, int field, size_t size) {
  constexpr uint32_t kLengthDelimited = 2;
  std::array<uint8_t, 16> header = {};
  uint8_t* end = Coded::WriteVarint32ToArray(
      static_cast<uint32_t>(field) << 3 | kLengthDelimited, header.data());
  end = Coded::WriteVarint64ToArray(size, end);
  bytes->append(header.data(), end);
}

/// A TensorProto up to its raw data, which come last.
std::string SerializedHead(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  for (const int64_t extent : tensor.shape()) proto.add_dims(extent);
  std::string head = proto.SerializeAsString();
  AppendTag(&head, onnx::TensorProto::kRawDataFieldNumber,
            static_cast<size_t>(tensor.byte_size()));
  return head;
}

void Append(std::span<const std::byte> part, std::vector<std::byte>* bytes) {
  bytes->insert(bytes->end(), part.begin(), part.end());
}
void Append(const std::string& part, std::vector<std::byte>* bytes) {
  Append(std::as_bytes(std::span(part)), bytes);
}
void AppendData(const Tensor& tensor, std::vector<std::byte>* bytes) {
  Append({tensor.data(), static_cast<size_t>(tensor.byte_size())}, bytes);
}

/// Appends a ModelProto that holds one initializer: concatenated messages are
/// merged (protobuf's encoding guide, "Last One Wins"), so that no message of
/// all the weights need exist.
void AppendInitializer(const Tensor& tensor, const std::string& name,
                       std::vector<std::byte>* model) {
  const std::string head = SerializedHead(tensor, name);
  const size_t size = head.size() + static_cast<size_t>(tensor.byte_size());
  std::string inner;
  AppendTag(&inner, onnx::GraphProto::kInitializerFieldNumber, size);
  std::string outer;
  AppendTag(&outer, onnx::ModelProto::kGraphFieldNumber, inner.size() + size);
  Append(outer, model);
  Append(inner, model);
  Append(head, model);
  AppendData(tensor, model);
}

using Named = std::map<std::string, Tensor>;

/// The serialized model without what `values` replace.
Status Strip(const Model& model, const Named& values,
             std::vector<std::byte>* bytes) {
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  onnx::ModelProto& proto = message.proto;
  // Before version 4 each initializer was an input as well.
  constexpr int64_t kFreeInitializers = 4;
  proto.set_ir_version(std::max(proto.ir_version(), kFreeInitializers));
  onnx::GraphProto* graph = proto.mutable_graph();
  const auto replaced = [&](const auto& item) {
    return values.contains(item.name());
  };
  graph::EraseIf(graph->mutable_input(), replaced);
  graph::EraseIf(graph->mutable_initializer(), replaced);
  graph::EraseIf(graph->mutable_node(), [&](const onnx::NodeProto& node) {
    return node.output_size() > 0 && values.contains(node.output(0));
  });
  bytes->resize(proto.ByteSizeLong());
  proto.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(bytes->data()));
  return OkStatus();
}

Status Fix(const Named& values, Graph* graph) {
  std::set<ValueId> fixed;
  for (const auto& [name, tensor] : values) {
    const ValueId id = graph->FindValue(name);
    if (id == kNoValue) return NotFound("the graph has no value '", name, "'");
    ValueInfo& info = (*graph)[id];
    const ValueType type = ValueType::OfTensor(tensor);
    if (!Accepts(info.type, type)) {
      return InvalidArgument("found ", type.ToString(), " for '", name,
                             "', wanted ", info.type.ToString());
    }
    info.type = type;
    fixed.insert(id);
    std::erase_if(graph->initializers,
                  [&](const Initializer& i) { return i.id == id; });
    graph->initializers.push_back({id, tensor});
  }
  for (const Node& node : graph->nodes) {
    const auto is_fixed = [&](ValueId id) { return fixed.contains(id); };
    if (std::ranges::any_of(node.outputs, is_fixed) &&
        node.outputs.size() > 1) {
      return InvalidArgument(node.Label(), " computes other values as well");
    }
  }
  const auto gone = [&](ValueId id) { return fixed.contains(id); };
  std::erase_if(graph->inputs, gone);
  std::erase_if(graph->overridable, gone);
  std::erase_if(graph->nodes, [&](const Node& node) {
    return node.outputs.size() == 1 && gone(node.outputs[0]);
  });
  std::ranges::sort(graph->initializers, {}, &Initializer::id);
  return OkStatus();
}

/// Rounds to nearest, as a copy in raw data of 16 bits an element.
template <class Half>
std::string Rounded(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) {
    const auto half = static_cast<Half>(value);
    bytes.append(reinterpret_cast<const char*>(&half), sizeof half);
  }
  return bytes;
}

using Opsets = std::map<std::string, int, std::less<>>;

/// Puts another type in the place of float32.
class Retyper {
 public:
  Retyper(DType type, const Opsets& opsets) : type_(type), opsets_(opsets) {}

  void Change(onnx::GraphProto* graph) {
    for (const onnx::NodeProto& node : graph->node()) Keep(node);
    for (auto* infos : {graph->mutable_input(), graph->mutable_output(),
                        graph->mutable_value_info()}) {
      for (onnx::ValueInfoProto& info : *infos) {
        if (!kept_.contains(info.name())) Change(info.mutable_type());
      }
    }
    for (auto& tensor : *graph->mutable_initializer()) {
      if (!kept_.contains(tensor.name())) Change(&tensor);
    }
    for (onnx::NodeProto& node : *graph->mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) Change(&attribute);
    }
  }

 private:
  /// Notes the values that the node's operator has in no other type.
  void Keep(const onnx::NodeProto& node) {
    const auto op = FindOperator(node.domain(), node.op_type());
    if (!op.has_value()) return;
    if (const onnx::OpSchema* const old = OldSchema(*op, node)) {
      KeepBy(old->inputs(), node.input());
      KeepBy(old->outputs(), node.output());
      return;
    }
    const types::OperatorSignature& signature = types::SignatureOf(*op);
    const auto keep = [&](std::span<const types::FormalParameter> formals,
                          const auto& names) {
      for (int i = 0; i < names.size(); ++i) {
        const types::FormalParameter* const formal =
            types::FormalAt(formals, static_cast<size_t>(i));
        if (formal == nullptr) continue;
        const auto& words =
            signature.variables[static_cast<size_t>(formal->variable)].types;
        const auto permits = [&](DType permitted) {
          return std::ranges::find(words, ToString(permitted)) != words.end();
        };
        if (permits(DType::kFloat32) && !permits(type_)) kept_.insert(names[i]);
      }
    };
    keep(signature.inputs, node.input());
    keep(signature.outputs, node.output());
  }

  /// ONNX's schema where the node is of an older version, whose parameters may
  /// stand at other places; null for one of the current version.
  const onnx::OpSchema* OldSchema(OperatorId op,
                                  const onnx::NodeProto& node) const {
    const OperatorInfo& info = Operators()[static_cast<size_t>(op)];
    const auto opset = opsets_.find(info.domain);
    if (opset == opsets_.end() ||
        VersionInForce(info, opset->second) == info.versions.back()) {
      return nullptr;
    }
    return onnx::OpSchemaRegistry::Schema(node.op_type(), opset->second,
                                          std::string(info.domain));
  }

  template <class Names>
  void KeepBy(const std::vector<onnx::OpSchema::FormalParameter>& formals,
              const Names& names) {
    const auto permits = [](const auto& formal, DType type) {
      const std::string word =
          types::SchemaWord(ValueType::OfTensor(type, std::vector<Dim>()));
      return std::ranges::any_of(formal.GetTypes(), [&](onnx::DataType each) {
        return *each == word;
      });
    };
    for (size_t i = 0; i < static_cast<size_t>(names.size()); ++i) {
      if (formals.empty()) return;
      const auto& formal = formals[std::min(i, formals.size() - 1)];
      if (permits(formal, DType::kFloat32) && !permits(formal, type_)) {
        kept_.insert(names[static_cast<int>(i)]);
      }
    }
  }

  void Change(onnx::TypeProto* type) const {
    if (type->has_tensor_type() && type->tensor_type().elem_type() == kFloat) {
      type->mutable_tensor_type()->set_elem_type(static_cast<int>(type_));
    }
    if (type->has_sequence_type()) {
      Change(type->mutable_sequence_type()->mutable_elem_type());
    }
    if (type->has_optional_type()) {
      Change(type->mutable_optional_type()->mutable_elem_type());
    }
  }

  void Change(onnx::TensorProto* tensor) const {
    if (tensor->data_type() != kFloat) return;
    std::vector<float> values(tensor->float_data().begin(),
                              tensor->float_data().end());
    if (tensor->has_raw_data()) {
      values.resize(tensor->raw_data().size() / sizeof(float));
      std::memcpy(values.data(), tensor->raw_data().data(),
                  values.size() * sizeof(float));
    }
    tensor->clear_float_data();
    tensor->clear_raw_data();
    tensor->set_data_type(static_cast<int>(type_));
    if (type_ == DType::kFloat16) {
      tensor->set_raw_data(Rounded<Eigen::half>(values));
    } else if (type_ == DType::kBFloat16) {
      tensor->set_raw_data(Rounded<Eigen::bfloat16>(values));
    } else {
      tensor->mutable_double_data()->Assign(values.begin(), values.end());
    }
  }

  void Change(onnx::AttributeProto* attribute) {
    // Cast's target, and that of generators of constants and random numbers.
    if ((attribute->name() == "to" || attribute->name() == "dtype" ||
         attribute->name() == "output_dtype" ||
         attribute->name() == "output_datatype") &&
        attribute->i() == kFloat) {
      attribute->set_i(static_cast<int>(type_));
    }
    // Constant's short forms become its tensor.
    if (attribute->name() == "value_float" ||
        attribute->name() == "value_floats") {
      onnx::TensorProto* tensor = attribute->mutable_t();
      tensor->set_data_type(kFloat);
      if (attribute->name() == "value_float") {
        tensor->add_float_data(attribute->f());
      } else {
        tensor->add_dims(attribute->floats_size());
        *tensor->mutable_float_data() = attribute->floats();
      }
      attribute->clear_f();
      attribute->clear_floats();
      attribute->set_name("value");
      attribute->set_type(onnx::AttributeProto::TENSOR);
    }
    if (attribute->has_t()) Change(attribute->mutable_t());
    if (attribute->has_g()) Change(attribute->mutable_g());
    for (auto& tensor : *attribute->mutable_tensors()) Change(&tensor);
    for (auto& graph : *attribute->mutable_graphs()) Change(&graph);
  }

  DType type_;
  const Opsets& opsets_;
  std::set<std::string, std::less<>> kept_;  // of all graphs
};

}  // namespace
Result<std::shared_ptr<const Model>> WithInitializers(
    const Model& model, const std::map<std::string, Tensor>& values) {
  Model::Parts parts;
  parts.ir_version = model.ir_version();
  parts.opsets = model.opsets();
  parts.functions = model.functions();
  ASSAY_ASSIGN_OR_RETURN(parts.graph, InferTypes(model));
  ASSAY_RETURN_IF_ERROR(Fix(values, &parts.graph));
  ASSAY_RETURN_IF_ERROR(Strip(model, values, &parts.bytes));
  for (const auto& [name, tensor] : values) {
    ASSAY_RETURN_IF_ERROR(CheckNumbers(tensor, name));
  }
  // Other numbers of the same types change nothing of that, and to ask again
  // would take several times the memory of the weights.
  parts.checked = types::CheckModel(model).ok();
  parts.inferred = std::ranges::all_of(values, [](const auto& value) {
    return IsFloatingPoint(value.second.dtype());  // which no shape depends on
  });
  ASSAY_ASSIGN_OR_RETURN(const std::string whole, WholeModel(model));
  if (whole.empty()) {
    const auto base = model.bytes();
    parts.base.assign(base.begin(), base.end());
    parts.fixed = values;
  }
  parts.more_bytes = [values](std::vector<std::byte>* bytes) {
    size_t size = bytes->size();
    for (const auto& [name, tensor] : values) {
      size += static_cast<size_t>(tensor.byte_size()) + name.size() + 64;
    }
    bytes->reserve(size);
    for (const auto& [name, tensor] : values) {
      AppendInitializer(tensor, name, bytes);
    }
  };
  return std::make_shared<const Model>(std::move(parts));
}

Result<std::shared_ptr<const Model>> Retyped(const Model& model, DType type) {
  if (type != DType::kFloat64 && type != DType::kFloat16 &&
      type != DType::kBFloat16) {
    return InvalidArgument("found ", ToString(type),
                           ", wanted float64, float16 or bfloat16");
  }
  reader::ModelMessage message;
  ASSAY_RETURN_IF_ERROR(message.Read(model.bytes()));
  Retyper(type, model.opsets()).Change(message.proto.mutable_graph());
  return message.Parse();
}

Result<std::vector<std::byte>> SerializeTensor(const Tensor& tensor,
                                               const std::string& name) {
  ASSAY_RETURN_IF_ERROR(CheckNumbers(tensor, name));
  std::vector<std::byte> bytes;
  Append(SerializedHead(tensor, name), &bytes);
  AppendData(tensor, &bytes);
  return bytes;
}

}  // namespace assay::edit

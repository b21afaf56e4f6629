// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/types/retype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "framework/core/value_walk.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/metric/element.h"

namespace assay::retype {
namespace {

/// An element as double; of a complex number the first part.
double NumberAt(const Tensor& tensor, int64_t i) {
  const DType type = tensor.dtype();
  if (type == DType::kString) {
    const std::string& text = tensor.strings()[static_cast<size_t>(i)];
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? static_cast<double>(text.size()) : number;
  }
  if (type == DType::kComplex64) {
    return static_cast<double>(
        tensor.elements<std::pair<float, float>>()[static_cast<size_t>(i)]
            .first);
  }
  if (type == DType::kComplex128) {
    return tensor.elements<std::pair<double, double>>()[static_cast<size_t>(i)]
        .first;
  }
  const uint64_t bits = metric::ElementBits(type, tensor.data(), i);
  if (IsFloatingPoint(type)) return metric::DecodeFloat(type, bits);
  if (ClassOf(type) != DTypeClass::kSigned) return static_cast<double>(bits);
  const int unused = 64 - BitsOf(type);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

using Codes = std::map<double, uint64_t>;

/// The finite numbers of a float type of at most 16 bits.
const Codes& CodesOf(DType type) {
  static auto& known = *new std::map<DType, Codes>;
  Codes& codes = known[type];
  if (!codes.empty()) return codes;
  for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
    const double value = metric::DecodeFloat(type, bits);
    if (std::isfinite(value)) codes.emplace(value, bits);
  }
  return codes;
}

uint64_t NearestCode(DType type, double number) {
  const Codes& codes = CodesOf(type);
  if (std::isnan(number)) return codes.rbegin()->second;
  const auto above = codes.lower_bound(number);
  if (above == codes.end()) return codes.rbegin()->second;
  if (above == codes.begin()) return above->second;
  const auto below = std::prev(above);
  return number - below->first < above->first - number ? below->second
                                                       : above->second;
}

uint64_t IntegerCode(DType type, double number) {
  const int width = BitsOf(type);
  const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
  const int digits = is_signed ? width - 1 : width;
  const double most = std::ldexp(1, digits) - (digits > 53 ? 2048 : 1);
  const double least = is_signed ? -std::ldexp(1, digits) : 0;
  const double whole =
      std::isnan(number) ? 0 : std::clamp(std::trunc(number), least, most);
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(whole))
                   : static_cast<uint64_t>(whole);
}

uint64_t CodeOf(DType type, double number) {
  switch (type) {
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(number));
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(number);
    case DType::kBool:
      return number != 0 ? 1 : 0;
    default:
      return IsFloatingPoint(type) ? NearestCode(type, number)
                                   : IntegerCode(type, number);
  }
}

void SetBits(Tensor& tensor, int64_t index, uint64_t bits) {
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  const int width = BitsOf(tensor.dtype());
  for (int k = 0; k < width; ++k) {
    const int64_t at = index * width + k;
    bytes[at / 8] |= static_cast<uint8_t>((bits >> k & 1) << (at % 8));
  }
}

const types::OperatorSignature& SignatureOf(const Node& node) {
  return types::SignatureOf(*FindOperator(node.domain, node.op_type));
}

/// The values of the node that a type variable stands for, a variadic of mixed
/// types apart.
std::set<ValueId> ValuesOf(const Node& node, int variable, bool of_inputs) {
  const types::OperatorSignature& signature = SignatureOf(node);
  const auto formals = of_inputs ? signature.inputs : signature.outputs;
  const auto& ids = of_inputs ? node.inputs : node.outputs;
  std::set<ValueId> found;
  for (size_t i = 0; i < ids.size(); ++i) {
    const types::FormalParameter* const formal = types::FormalAt(formals, i);
    if (formal == nullptr || formal->mixed || ids[i] == kNoValue) continue;
    if (formal->variable == variable) found.insert(ids[i]);
  }
  return found;
}

Value Convert(const Value& value, DType dtype) {
  const auto change = [=](const Tensor& t) { return ConvertTensor(t, dtype); };
  if (value.sparse() != nullptr || value.map() != nullptr) return value;
  return MapTensors(value, change, [=](DType) { return dtype; }).value();
}

/// An attribute of an output's type: a number of TensorProto.DataType, or a
/// tensor whose elements the output takes.
bool NamesType(std::string_view name) {
  return name == "to" || name == "dtype" || name == "output_dtype" ||
         name == "output_datatype" || name == "value";
}

Tensor Zero(DType dtype) { return Tensor::Allocate(dtype, {1}).value(); }

/// Sets the attribute that names the type; true when there is one.
bool SetAttribute(Node* node, DType dtype, bool only_where_given) {
  for (const types::AttributeInfo& info : SignatureOf(*node).attributes) {
    if (!NamesType(info.name)) continue;
    auto given =
        std::ranges::find(node->attributes, info.name, &Attribute::name);
    if (given == node->attributes.end()) {
      if (only_where_given) continue;
      node->attributes.push_back({std::string(info.name), {}, ""});
      given = node->attributes.end() - 1;
    }
    if (info.kind == "tensor") {
      const Tensor* const tensor = std::get_if<Tensor>(&given->held);
      given->held =
          ConvertTensor(tensor != nullptr ? *tensor : Zero(dtype), dtype);
    } else {
      given->held = static_cast<int64_t>(dtype);
    }
    return true;
  }
  return false;
}

}  // namespace

Tensor ConvertTensor(const Tensor& tensor, DType type) {
  if (tensor.dtype() == type) return tensor;
  Tensor converted = Tensor::Allocate(type, tensor.shape()).value();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double number = NumberAt(tensor, i);
    const auto at = static_cast<size_t>(i);
    if (type == DType::kString) {
      converted.mutable_strings()[at] = StrCat(number);
    } else if (type == DType::kComplex64) {
      converted.mutable_elements<std::pair<float, float>>()[at] = {
          static_cast<float>(number), 0.0F};
    } else if (type == DType::kComplex128) {
      converted.mutable_elements<std::pair<double, double>>()[at] = {number, 0};
    } else {
      SetBits(converted, i, CodeOf(type, number));
    }
  }
  return converted;
}

bool IsRetypable(const Graph& graph) {
  if (graph.nodes.size() != 1) return false;
  const Node& node = graph.nodes[0];
  const auto id = FindOperator(node.domain, node.op_type);
  if (!id.has_value()) return false;
  const OperatorInfo& info = Operators()[static_cast<size_t>(*id)];
  if (info.deprecated ||
      VersionInForce(info, node.opset) != info.versions.back()) {
    return false;
  }
  return node.Subgraphs().empty();
}

std::optional<ValueType> BoundType(const Graph& graph, int variable) {
  for (const bool of_inputs : {true, false}) {
    for (const ValueId id : ValuesOf(graph.nodes[0], variable, of_inputs)) {
      const ValueType& type = graph[id].type;
      if (!types::Word(type).empty()) return type;
    }
  }
  return std::nullopt;
}

Result<RetypedCase> Retype(const Graph& graph, std::span<const Value> inputs,
                           int variable, DType type) {
  RetypedCase made{graph, {inputs.begin(), inputs.end()}};
  Node& node = made.graph.nodes[0];
  const std::set<ValueId> read = ValuesOf(node, variable, true);
  const auto bound = BoundType(graph, variable);
  const bool is_held =
      std::ranges::any_of(node.attributes, [&](const Attribute& attribute) {
        const auto* tensor = std::get_if<Tensor>(&attribute.held);
        return tensor != nullptr && bound && tensor->dtype() == bound->dtype;
      });
  if (is_held && !read.empty()) {
    return Unsupported(Reason::kAttribute,
                       "an attribute has elements of that type as well");
  }
  const std::set<ValueId> written = ValuesOf(node, variable, false);
  if (!written.empty() && !SetAttribute(&node, type, !read.empty()) &&
      read.empty()) {
    return Unsupported(
        Reason::kDType, node.Label(),
        ": no input or attribute says the type of ",
        SignatureOf(node).variables[static_cast<size_t>(variable)].name);
  }
  for (const auto& ids : {read, written}) {
    for (const ValueId id : ids) {
      ValueInfo& value = made.graph[id];
      value.type = MapDType(value.type, [=](DType) { return type; });
    }
  }
  for (size_t i = 0; i < made.inputs.size(); ++i) {
    if (read.contains(graph.inputs[i])) {
      made.inputs[i] = Convert(made.inputs[i], type);
    }
  }
  for (Initializer& initializer : made.graph.initializers) {
    if (read.contains(initializer.id)) {
      initializer.value = Convert(initializer.value, type);
    }
  }
  return made;
}

}  // namespace assay::retype

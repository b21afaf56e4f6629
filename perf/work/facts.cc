// SPDX-License-Identifier: Apache-2.0

#include "perf/work/facts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <variant>

#include "framework/core/text.h"

namespace assay::work {
namespace {

double BytesOfType(const ValueInfo& info, const ValueType& type) {
  if (type.kind == ValueKind::kOptional) {
    return BytesOfType(info, *type.element);
  }
  if (type.kind != ValueKind::kTensor) {
    throw Untold{Reason::kValueKind,
                 StrCat("the type of ", info.name, ", ", type.ToString(),
                        ", does not say how large it is")};
  }
  if (BitsOf(type.dtype) == 0) {
    throw Untold{Reason::kDType, StrCat("the type of ", info.name, ", ",
                                        type.dtype, ", has no size")};
  }
  const std::optional<Shape> shape = type.StaticShape();
  if (!shape.has_value()) {
    throw Untold{Reason::kShape, StrCat(info.name, " is ", type.ToString(),
                                        ", wanted a known shape")};
  }
  return std::ceil(Extent(*shape) * BitsOf(type.dtype) / 8);
}

}  // namespace

double Extent(const Shape& shape, int begin, int end) {
  if (begin < 0) begin += shape.rank();
  if (end < 0) end += shape.rank();
  double product = 1;
  for (int i = begin; i < end; ++i) {
    product *= static_cast<double>(shape[i]);
  }
  return product;
}

double Extent(const Shape& shape, int begin) {
  return Extent(shape, begin, shape.rank());
}

Shape NodeFacts::ShapeOf(ValueId id) const {
  if (id == kNoValue) {
    throw Untold{Reason::kShape, "an input or output is missing"};
  }
  const ValueInfo& info = graph_[id];
  const std::optional<Shape> shape = info.type.StaticShape();
  if (info.type.kind != ValueKind::kTensor || !shape.has_value()) {
    throw Untold{Reason::kShape, StrCat(info.name, " is ", info.type.ToString(),
                                        ", wanted a known shape")};
  }
  return *shape;
}

double NodeFacts::BytesOf(ValueId id) const {
  return id == kNoValue ? 0 : BytesOfType(graph_[id], graph_[id].type);
}

double NodeFacts::BytesIn(size_t i, double count) const {
  const ValueType& type = graph_[IdIn(i)].type;
  if (BitsOf(type.dtype) == 0) return BytesOf(IdIn(i));
  return count * BitsOf(type.dtype) / 8;
}

double NodeFacts::BytesOfInputs() const {
  double sum = 0;
  const std::vector<ValueId>& ids = node_.inputs;
  for (auto id = ids.begin(); id != ids.end(); ++id) {
    if (std::find(ids.begin(), id, *id) == id) sum += BytesOf(*id);
  }
  return sum;
}

double NodeFacts::BytesOfOutputs() const {
  double sum = 0;
  for (const ValueId id : node_.outputs) sum += BytesOf(id);
  return sum;
}

template <class T>
std::optional<T> NodeFacts::Held(std::string_view name) const {
  const Attribute* attribute = node_.Find(name);
  if (attribute == nullptr) return std::nullopt;
  const T* held = std::get_if<T>(&attribute->held);
  if (held == nullptr) {
    throw Untold{Reason::kAttribute,
                 StrCat("attribute ", name, " is ", KindName(attribute->held))};
  }
  return *held;
}

int64_t NodeFacts::Integer(std::string_view name, int64_t by_default) const {
  return Held<int64_t>(name).value_or(by_default);
}

float NodeFacts::Number(std::string_view name, float by_default) const {
  return Held<float>(name).value_or(by_default);
}

std::string NodeFacts::Text(std::string_view name,
                            std::string by_default) const {
  return Held<std::string>(name).value_or(std::move(by_default));
}

std::vector<int64_t> NodeFacts::Integers(std::string_view name) const {
  return Held<std::vector<int64_t>>(name).value_or(std::vector<int64_t>());
}

std::optional<std::vector<int64_t>> NodeFacts::Fixed(size_t i) const {
  const std::optional<Tensor> tensor = FixedIn(graph_, IdIn(i));
  return tensor.has_value() ? IntegersOf(*tensor) : std::nullopt;
}

int64_t NodeFacts::FixedNumber(size_t i, std::string_view name) const {
  const auto numbers = Fixed(i);
  if (!numbers.has_value() || numbers->size() != 1) {
    throw Untold{Reason::kValue, StrCat(name,
                                        " is no number that the model "
                                        "fixes")};
  }
  return numbers->front();
}

int NodeFacts::Axis(int64_t axis, int rank) const {
  const int64_t from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank) {
    throw Untold{Reason::kAttribute, StrCat("axis ", axis, " of rank ", rank)};
  }
  return static_cast<int>(from_front);
}

std::optional<std::vector<int64_t>> IntegersOf(const Tensor& tensor) {
  std::vector<int64_t> integers;
  const bool is_known =
      VisitType<int64_t, int32_t, bool>(tensor.dtype(), [&](auto zero) {
        const auto elements = tensor.elements<decltype(zero)>();
        integers.assign(elements.begin(), elements.end());
      });
  return is_known ? std::optional(integers) : std::nullopt;
}

std::optional<Tensor> FixedIn(const Graph& graph, ValueId id) {
  if (id == kNoValue) return std::nullopt;
  if (const Value* value = graph.FindInitializer(id); value != nullptr) {
    const Tensor* tensor = value->tensor();
    return tensor == nullptr || tensor->data() == nullptr
               ? std::nullopt
               : std::optional(*tensor);
  }
  for (const Node& node : graph.nodes) {
    if (node.op_type != "Constant" || node.outputs[0] != id) continue;
    const Attribute* value = node.Find("value");
    if (value != nullptr) {
      if (const auto* tensor = std::get_if<Tensor>(&value->held)) {
        return *tensor;
      }
    }
    if (const Attribute* list = node.Find("value_ints"); list != nullptr) {
      const auto& held = std::get<std::vector<int64_t>>(list->held);
      auto tensor = Tensor::Of<int64_t>({std::ssize(held)}, held);
      if (tensor.ok()) return *tensor;
    }
    if (const Attribute* one = node.Find("value_int"); one != nullptr) {
      auto tensor =
          Tensor::Of<int64_t>({}, std::span(&std::get<int64_t>(one->held), 1));
      if (tensor.ok()) return *tensor;
    }
  }
  return std::nullopt;
}

}  // namespace assay::work

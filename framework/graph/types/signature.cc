// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/signature.h"

#include <algorithm>

#include "framework/core/text.h"

namespace assay::types {
namespace {

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

template <class T>
const T* HeldOf(const Attribute& attribute, const T*) {
  return std::get_if<T>(&attribute.held);
}
template <class T>
const T* HeldOf(const Attribute& attribute, const std::optional<T>*) {
  return std::get_if<T>(&attribute.held);
}

/// The word for what a slot wants, which Attribute::Held words share.
template <class T>
std::string_view WantedBy(const T*) {
  if constexpr (kIsOptional<T>) {
    return WantedBy(static_cast<const typename T::value_type*>(nullptr));
  } else {
    return KindName(Attribute::Held(T()));
  }
}

Status CheckVersion(const Node& node, const OperatorInfo& info) {
  const int found = VersionInForce(info, node.opset);
  const int current = info.versions.back();
  if (found == current) return OkStatus();
  return Unsupported(Reason::kOpset, node.Label(), " is version ", found,
                     " of opset ", node.opset, ", wanted version ", current,
                     " or later: see ToCurrentOpset");
}

Status CheckCount(const Node& node, std::string_view what, size_t found,
                  int min, int max) {
  if (found >= static_cast<size_t>(min) && found <= static_cast<size_t>(max)) {
    return OkStatus();
  }
  if (max == INT32_MAX) {
    return InvalidArgument(node.Label(), " has ", found, " ", what,
                           ", wanted at least ", min);
  }
  return InvalidArgument(node.Label(), " has ", found, " ", what, ", wanted ",
                         min, min == max ? "" : StrCat(" to ", max));
}

/// Fills the slots of the formal inputs or outputs from the values given.
template <class Single, class Variadic>
Status Place(const Node& node, std::string_view what,
             std::span<const FormalParameter> formals,
             std::initializer_list<std::variant<Single*, Variadic*>> slots,
             const std::vector<ValueId>& given) {
  const auto present = [&](int position) {
    return static_cast<size_t>(position) < given.size() &&
           given[static_cast<size_t>(position)] != kNoValue;
  };
  const FormalParameter* formal = formals.data();
  for (const auto& place : slots) {
    const bool required = (formal++)->arity == Arity::kSingle;
    if (auto* const* variadic = std::get_if<Variadic*>(&place)) {
      const int count = static_cast<int>(given.size()) - (*variadic)->first;
      (*variadic)->count = std::max(count, 0);
      continue;
    }
    Single& slot = *std::get<Single*>(place);
    slot.present = present(slot.position);
    if (required && !slot.present) {
      return InvalidArgument(node.Label(), " omits ", what, " ", slot.position,
                             ", which ", node.op_type, " requires");
    }
  }
  return OkStatus();
}

Status Assign(const Node& node, const Attribute& attribute,
              const AttributeSlot& place) {
  if (!attribute.ref.empty()) {
    return FailedPrecondition(node.Label(), ": attribute ", attribute.name,
                              " stands for the function's attribute ",
                              attribute.ref, ", wanted an expanded function");
  }
  return std::visit(
      [&](auto* slot) {
        const auto* held = HeldOf(attribute, slot);
        if (held == nullptr) {
          return InvalidArgument(node.Label(), ": attribute ", attribute.name,
                                 " is ", KindName(attribute.held), ", wanted ",
                                 WantedBy(slot));
        }
        *slot = *held;
        return OkStatus();
      },
      place);
}

Status UnknownAttribute(const Node& node, const Attribute& attribute,
                        std::span<const AttributeInfo> known) {
  const std::string wanted = Joined(known, ", ", &AttributeInfo::name);
  return InvalidArgument(node.Label(), " has attribute ", attribute.name, " (",
                         KindName(attribute.held), "), wanted ",
                         wanted.empty() ? "none" : "one of ", wanted);
}

/// The text of a type, where a tensor stands between `open` and `close`; with
/// them its element type has the name that ONNX's schemas give it.
std::string TypeText(const ValueType& type, std::string_view open,
                     std::string_view close) {
  const std::string inner =
      type.element ? TypeText(*type.element, open, close) : "";
  std::string dtype(type.dtype == DType::kUndefined ? ""
                                                    : ToString(type.dtype));
  if (!open.empty() && type.dtype == DType::kFloat32) dtype = "float";
  if (!open.empty() && type.dtype == DType::kFloat64) dtype = "double";
  switch (type.kind) {
    case ValueKind::kTensor:
      return dtype.empty() ? "" : StrCat(open, dtype, close);
    case ValueKind::kSparseTensor:
      return dtype.empty() ? "" : StrCat("sparse_tensor(", dtype, ")");
    case ValueKind::kSequence:
      return inner.empty() ? "" : StrCat("seq(", inner, ")");
    case ValueKind::kOptional:
      return inner.empty() ? "" : StrCat("optional(", inner, ")");
    case ValueKind::kMap:
      return dtype.empty() || inner.empty()
                 ? ""
                 : StrCat("map(", dtype, ",", inner, ")");
    case ValueKind::kNone:
      break;
  }
  return "";
}

}  // namespace

const FormalParameter* FormalAt(std::span<const FormalParameter> formals,
                                size_t position) {
  if (position < formals.size()) return &formals[position];
  const bool variadic =
      !formals.empty() && formals.back().arity == Arity::kVariadic;
  return variadic ? &formals.back() : nullptr;
}

std::string Word(const ValueType& type) { return TypeText(type, "", ""); }

std::string SchemaWord(const ValueType& type) {
  return TypeText(type, "tensor(", ")");
}

Status ReadSlots(const Node& node, OperatorId id,
                 std::initializer_list<InputSlot> inputs,
                 std::initializer_list<OutputSlot> outputs,
                 std::initializer_list<AttributeSlot> attributes) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(id)];
  if (node.op_type != info.name || node.domain != info.domain) {
    return InvalidArgument(node.Label(), " is not a node of ", info.name);
  }
  ASSAY_RETURN_IF_ERROR(CheckVersion(node, info));
  const OperatorSignature& signature = SignatureOf(id);
  const NodeCounts& counts = signature.counts;
  ASSAY_RETURN_IF_ERROR(CheckCount(node, "inputs", node.inputs.size(),
                                   counts.min_inputs, counts.max_inputs));
  ASSAY_RETURN_IF_ERROR(CheckCount(node, "outputs", node.outputs.size(),
                                   counts.min_outputs, counts.max_outputs));
  ASSAY_RETURN_IF_ERROR(
      Place(node, "input", signature.inputs, inputs, node.inputs));
  ASSAY_RETURN_IF_ERROR(
      Place(node, "output", signature.outputs, outputs, node.outputs));
  size_t used = 0;
  const AttributeInfo* known = signature.attributes.data();
  for (const AttributeSlot& slot : attributes) {
    const AttributeInfo& wanted = *known++;
    if (const Attribute* attribute = node.Find(wanted.name)) {
      ASSAY_RETURN_IF_ERROR(Assign(node, *attribute, slot));
      ++used;
    } else if (wanted.required) {
      return InvalidArgument(node.Label(), " lacks the attribute ",
                             wanted.name);
    }
  }
  if (used == node.attributes.size()) return OkStatus();
  for (const Attribute& attribute : node.attributes) {
    if (std::ranges::find(signature.attributes, attribute.name,
                          &AttributeInfo::name) == signature.attributes.end()) {
      return UnknownAttribute(node, attribute, signature.attributes);
    }
  }
  return InvalidArgument(node.Label(), " gives an attribute twice");
}

}  // namespace assay::types

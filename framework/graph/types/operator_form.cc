// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/types/operator_form.h"

#include <algorithm>
#include <type_traits>

namespace assay::inline v1 {
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
template <class Forms, class Single, class Variadic>
Status Place(const Node& node, std::string_view what, const Forms& forms,
             const std::vector<ValueId>& given, Single*, Variadic*) {
  const auto present = [&](int position) {
    return static_cast<size_t>(position) < given.size() &&
           given[static_cast<size_t>(position)] != kNoValue;
  };
  for (const auto& form : forms) {
    if (auto* const* variadic = std::get_if<Variadic*>(&form.slot)) {
      const int count = static_cast<int>(given.size()) - (*variadic)->first;
      (*variadic)->count = std::max(count, 0);
      continue;
    }
    Single& slot = *std::get<Single*>(form.slot);
    slot.present = present(slot.position);
    if (form.required && !slot.present) {
      return InvalidArgument(node.Label(), " omits ", what, " ", slot.position,
                             ", which ", node.op_type, " requires");
    }
  }
  return OkStatus();
}

Status Assign(const Node& node, const Attribute& attribute,
              const AttributeForm& form) {
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
      form.slot);
}

Status UnknownAttribute(const Node& node, const Attribute& attribute,
                        std::initializer_list<AttributeForm> forms) {
  std::string wanted;
  for (const AttributeForm& form : forms) {
    wanted += StrCat(wanted.empty() ? "" : ", ", form.name);
  }
  return InvalidArgument(node.Label(), " has attribute ", attribute.name, " (",
                         KindName(attribute.held), "), wanted ",
                         wanted.empty() ? "none" : "one of ", wanted);
}

}  // namespace

std::string_view KindName(const Attribute::Held& held) {
  constexpr std::string_view kNames[] = {"empty",
                                         "a float",
                                         "an integer",
                                         "a string",
                                         "a tensor",
                                         "a graph",
                                         "a sparse tensor",
                                         "a type",
                                         "a list of floats",
                                         "a list of integers",
                                         "a list of strings",
                                         "a list of tensors",
                                         "a list of graphs",
                                         "a list of sparse tensors",
                                         "a list of types"};
  static_assert(std::size(kNames) == std::variant_size_v<Attribute::Held>);
  return kNames[held.index()];
}

Status ReadForm(const Node& node, OperatorId id, NodeArity arity,
                std::initializer_list<InputForm> inputs,
                std::initializer_list<OutputForm> outputs,
                std::initializer_list<AttributeForm> attributes) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(id)];
  if (node.op_type != info.name || node.domain != info.domain) {
    return InvalidArgument(node.Label(), " is not a node of ", info.name);
  }
  ASSAY_RETURN_IF_ERROR(CheckVersion(node, info));
  ASSAY_RETURN_IF_ERROR(CheckCount(node, "inputs", node.inputs.size(),
                                   arity.min_inputs, arity.max_inputs));
  ASSAY_RETURN_IF_ERROR(CheckCount(node, "outputs", node.outputs.size(),
                                   arity.min_outputs, arity.max_outputs));
  ASSAY_RETURN_IF_ERROR(Place<>(node, "input", inputs, node.inputs,
                                static_cast<Input*>(nullptr),
                                static_cast<VariadicInput*>(nullptr)));
  ASSAY_RETURN_IF_ERROR(Place<>(node, "output", outputs, node.outputs,
                                static_cast<Output*>(nullptr),
                                static_cast<VariadicOutput*>(nullptr)));
  size_t used = 0;
  for (const AttributeForm& form : attributes) {
    if (const Attribute* attribute = node.Find(form.name)) {
      ASSAY_RETURN_IF_ERROR(Assign(node, *attribute, form));
      ++used;
    } else if (form.required) {
      return InvalidArgument(node.Label(), " lacks the attribute ", form.name);
    }
  }
  if (used == node.attributes.size()) return OkStatus();
  for (const Attribute& attribute : node.attributes) {
    const auto* known =
        std::ranges::find(attributes, attribute.name, &AttributeForm::name);
    if (known == attributes.end()) {
      return UnknownAttribute(node, attribute, attributes);
    }
  }
  return InvalidArgument(node.Label(), " gives an attribute twice");
}

}  // namespace assay::inline v1

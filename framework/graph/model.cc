// SPDX-License-Identifier: Apache-2.0

#include "framework/graph/model.h"

#include <algorithm>

namespace assay::inline v1 {

const Attribute* Node::Find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

using SharedGraph = std::shared_ptr<const Graph>;

/// Calls visit(held) for each graph that attributes hold, alone or in lists.
template <class Attributes, class Visit>
static void ForEachHeld(Attributes& attributes, const Visit& visit) {
  for (auto& attribute : attributes) {
    if (auto* one = std::get_if<SharedGraph>(&attribute.held)) {
      visit(*one);
    } else if (auto* many =
                   std::get_if<std::vector<SharedGraph>>(&attribute.held)) {
      std::ranges::for_each(*many, visit);
    }
  }
}

std::vector<const Graph*> Node::Subgraphs() const {
  std::vector<const Graph*> graphs;
  ForEachHeld(attributes,
              [&](const SharedGraph& graph) { graphs.push_back(graph.get()); });
  return graphs;
}

std::vector<std::shared_ptr<const Graph>*> Node::MutableSubgraphs() {
  std::vector<SharedGraph*> graphs;
  ForEachHeld(attributes,
              [&](SharedGraph& graph) { graphs.push_back(&graph); });
  return graphs;
}

std::string Node::Label() const {
  return StrCat(op_type, name.empty() ? "" : StrCat(" '", name, "'"),
                function.empty() ? "" : StrCat(" in ", function));
}

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

const Value* Graph::FindInitializer(ValueId id) const {
  const auto found =
      std::ranges::lower_bound(initializers, id, {}, &Initializer::id);
  return found == initializers.end() || found->id != id ? nullptr
                                                        : &found->value;
}

ValueId Graph::FindValue(std::string_view name) const {
  const auto found = std::ranges::find(values, name, &ValueInfo::name);
  return found == values.end() ? kNoValue
                               : static_cast<ValueId>(found - values.begin());
}

std::span<const std::byte> Model::bytes() const {
  std::call_once(whole_, [this] {
    if (parts_.more_bytes == nullptr) return;
    parts_.more_bytes(&parts_.bytes);
    parts_.more_bytes = nullptr;
  });
  return parts_.bytes;
}

}  // namespace assay::inline v1

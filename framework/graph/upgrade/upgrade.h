// SPDX-License-Identifier: Apache-2.0
//
// How a node of an older operator version is brought to the current form: a
// table of steps, each from some versions to a later one by a rule.
//
// A rule rewrites the node in place, and may put further nodes before and after
// it. Facts come from ONNX's changelog and from its own version converter.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/graph/model.h"
#include "framework/graph/operator.h"

namespace assay::upgrade {

/// One node on its way to the current form, and the graph around it. Lives for
/// one node; used from one thread.
class NodeUpgrade {
 public:
  /// `done` are the nodes before this one, in their current form.
  NodeUpgrade(Graph& graph, const std::vector<Node>& done, Node old)
      : node(std::move(old)), graph_(graph), done_(done) {}

  /// Unsupported, reason opset, naming the node and its version's opset.
  template <class... Parts>
  Status Decline(const Parts&... why) const {
    return Unsupported(Reason::kOpset, node.Label(), " of opset ", node.opset,
                       ": ", why...);
  }

  /// Removes an attribute and returns its value, if it was there.
  template <class T>
  Result<std::optional<T>> Take(std::string_view name) {
    for (size_t i = 0; i < node.attributes.size(); ++i) {
      Attribute& attribute = node.attributes[i];
      if (attribute.name != name) continue;
      T* const held = std::get_if<T>(&attribute.held);
      if (held == nullptr) {
        return InvalidArgument(node.Label(), ": attribute ", name, " is ",
                               KindName(attribute.held), ", wanted ",
                               KindName(Attribute::Held(T())));
      }
      std::optional<T> taken = std::move(*held);
      node.attributes.erase(node.attributes.begin() +
                            static_cast<std::ptrdiff_t>(i));
      return taken;
    }
    return std::optional<T>();
  }
  void Drop(std::string_view name);
  void Set(std::string_view name, Attribute::Held held);

  void SetInput(size_t position, ValueId id);

  /// The type of a value; of kind kNone for an omitted one.
  const ValueType& TypeOf(ValueId id) const;
  /// The fixed tensor of an initializer or a Constant; null when there is none.
  const Tensor* ConstantOf(ValueId id) const;
  /// The one element of a fixed tensor of a float or integer type.
  std::optional<double> NumberOf(ValueId id) const;
  /// The rank of a tensor value, when it is known.
  std::optional<int64_t> RankOf(ValueId id) const;
  /// True when a later node, a subgraph or the graph's caller reads a value.
  bool IsRead(ValueId id) const;

  /// A new value of this graph, named after the node's first output.
  ValueId AddValue(std::string_view suffix, ValueType type);
  ValueId AddConstant(std::string_view suffix, Tensor tensor);
  Result<ValueId> AddIntegers(std::string_view suffix,
                              const std::vector<int64_t>& integers);
  /// A scalar of the element type of `like`.
  Result<ValueId> AddScalar(std::string_view suffix, float number,
                            ValueId like);

  /// A node of the current opset, to stand before or after this one.
  Node MakeNode(std::string_view op_type, std::vector<ValueId> inputs,
                ValueId output) const;

  Node node;
  std::vector<Node> before;
  std::vector<Node> after;
  bool replaced = false;  // `before` and `after` stand for the node altogether

 private:
  Graph& graph_;
  const std::vector<Node>& done_;
};

/// Versions v with from <= v < to become `to`. `op_type` is the name before
/// the step, which a rule may change.
struct UpgradeStep {
  std::string_view op_type;
  int16_t from;
  int16_t to;
  Status (*rule)(NodeUpgrade& upgrade);
  std::string_view why;  // what ONNX changed
};

std::span<const UpgradeStep> UpgradeTable();

}  // namespace assay::upgrade

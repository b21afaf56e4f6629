// SPDX-License-Identifier: Apache-2.0
//
// NodeFacts: shapes, sizes and attributes of a node, as rules of work read
// them. A fact that is not known is thrown as an Untold, which WorkOf catches.
//
//   const Shape& a = facts.In(0);                  // or throws Untold
//   const int64_t group = facts.Integer("group", 1);

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::work {

/// Why the work of a node cannot be told.
struct Untold {
  Reason reason = Reason::kOperator;
  std::string why;
};

/// The product of extents [begin, end), counted from the back where negative;
/// a double, so that no claimed shape overflows it.
double Extent(const Shape& shape, int begin = 0);
double Extent(const Shape& shape, int begin, int end);

/// Refers to a node and its graph, which outlive it.
class NodeFacts {
 public:
  NodeFacts(const Node& node, const Graph& graph)
      : node_(node), graph_(graph) {}

  const Node& node() const { return node_; }
  const Graph& graph() const { return graph_; }

  bool HasIn(size_t i) const { return IdIn(i) != kNoValue; }
  bool HasOut(size_t i) const { return IdOut(i) != kNoValue; }

  /// The shape of an input or output that the node has.
  Shape In(size_t i) const { return ShapeOf(IdIn(i)); }
  Shape Out(size_t i) const { return ShapeOf(IdOut(i)); }
  double CountIn(size_t i) const { return Extent(In(i)); }
  double CountOut(size_t i) const { return Extent(Out(i)); }

  /// Bytes of one; 0 for one that the node does not have.
  double BytesIn(size_t i) const { return BytesOf(IdIn(i)); }
  double BytesOut(size_t i) const { return BytesOf(IdOut(i)); }
  /// Bytes of so many elements of an input's type.
  double BytesIn(size_t i, double count) const;
  /// A value that stands at two places counts once.
  double BytesOfInputs() const;
  double BytesOfOutputs() const;

  int64_t Integer(std::string_view name, int64_t by_default) const;
  float Number(std::string_view name, float by_default) const;
  std::string Text(std::string_view name, std::string by_default) const;
  std::vector<int64_t> Integers(std::string_view name) const;

  /// The integers or booleans of an input that the model fixes.
  std::optional<std::vector<int64_t>> Fixed(size_t i) const;
  /// The same of one number; untold, with this name, where it is not fixed.
  int64_t FixedNumber(size_t i, std::string_view name) const;
  /// An axis, counted from the front; untold where the rank has none such.
  int Axis(int64_t axis, int rank) const;

 private:
  static ValueId At(const std::vector<ValueId>& ids, size_t i) {
    return i < ids.size() ? ids[i] : kNoValue;
  }
  ValueId IdIn(size_t i) const { return At(node_.inputs, i); }
  ValueId IdOut(size_t i) const { return At(node_.outputs, i); }
  Shape ShapeOf(ValueId id) const;
  double BytesOf(ValueId id) const;

  template <class T>
  std::optional<T> Held(std::string_view name) const;

  const Node& node_;
  const Graph& graph_;
};

/// The integers of a tensor of int64, int32 or bool; none of another type.
std::optional<std::vector<int64_t>> IntegersOf(const Tensor& tensor);

/// The tensor that the graph fixes for a value: its initializer, or that of a
/// Constant; none for another.
std::optional<Tensor> FixedIn(const Graph& graph, ValueId id);

}  // namespace assay::work

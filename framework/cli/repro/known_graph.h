// SPDX-License-Identifier: Apache-2.0
//
// KnownGraph: a draft with the values between its nodes, as somebody computed
// them, and models made of parts of it.
//
//   KnownGraph known(draft);
//   ASSAY_ASSIGN_OR_RETURN(const Draft all, known.CutAt(known.Inner()));
//   known.Know(id, value);  // for each output of `all`, as it was computed
//   ASSAY_ASSIGN_OR_RETURN(const Draft third, known.Part({2}));

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "framework/cli/repro/shrink_draft.h"
#include "framework/core/status.h"
#include "framework/graph/edit/submodel.h"
#include "framework/graph/model.h"

namespace assay::repro {

class KnownGraph {
 public:
  /// Knows the inputs of the draft, and types as far as inference finds them.
  explicit KnownGraph(const Draft& draft);

  const Graph& graph() const { return graph_; }
  size_t size() const { return graph_.nodes.size(); }

  /// The values that nodes compute and that a model can have as outputs, in
  /// the order of the nodes.
  std::vector<ValueId> Inner() const;

  /// A value and all that is computed of it.
  std::set<ValueId> Behind(ValueId id) const;

  void Know(ValueId id, Value value) { values_[id] = std::move(value); }
  /// Null where it is not known.
  const Value* Find(ValueId id) const;

  /// The model cut at these values: the nodes that lead to them, with these
  /// outputs and all inputs of the draft. Nothing is expected of it.
  Result<Draft> CutAt(std::span<const ValueId> ids) const;

  /// Some nodes, ascending, fed what is known; what is known of their outputs
  /// is expected. Failed precondition where one of these values is not known.
  Result<Draft> Part(const std::vector<size_t>& nodes) const {
    return Made(nodes, OutputsOf(nodes));
  }

  /// The same of one node; the Constants that it reads stay constant.
  Result<Draft> Alone(size_t node) const;

  /// The values that others read of these nodes or, where nobody does, all
  /// that the last of them computes.
  std::vector<ValueId> OutputsOf(const std::vector<size_t>& nodes) const;

  /// Elements of the tensors that the nodes are given.
  int64_t ElementsGiven(const std::vector<size_t>& nodes) const;

 private:
  Result<Draft> Made(const std::vector<size_t>& nodes,
                     const std::vector<ValueId>& outputs) const;
  Status AddPort(ValueId id, std::vector<edit::Port>* ports,
                 std::vector<Value>* values) const;

  std::shared_ptr<const Model> model_;
  std::vector<Value> inputs_;
  Graph graph_;
  std::map<ValueId, Value> values_;
};

}  // namespace assay::repro

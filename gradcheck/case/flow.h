// SPDX-License-Identifier: Apache-2.0
//
// Flow: between which ends of a graph gradients flow, by the catalogue. A path
// leads through parameters that are differentiable, from an input or an
// initializer to an output.
//
//   const Flow flow(model.graph());
//   flow.IsTarget(x);  // true in y = Relu(x), false in y = Floor(x)
//   flow.Carries(y);   // the same
//
// The catalogue says nothing of subgraphs, of collections and of functions of
// the model: whatever such a node reads flows into all that it gives.

#pragma once

#include <vector>

#include "framework/graph/model.h"

namespace assay::gradcheck {

class Flow {
 public:
  /// Of a main graph, which is not kept.
  explicit Flow(const Graph& graph);

  /// True for an input or an initializer from which a path leads to an output.
  bool IsTarget(ValueId id) const { return used_[static_cast<size_t>(id)]; }

  /// True for an output to which a path leads: one that a cotangent is given
  /// to.
  bool Carries(ValueId id) const { return carries_[static_cast<size_t>(id)]; }

 private:
  void Forth(const Graph& graph);
  void Back(const Graph& graph);

  std::vector<bool> reached_;  // from some input or initializer
  std::vector<bool> used_;     // reached, and some output is reached from it
  std::vector<bool> carries_;
};

}  // namespace assay::gradcheck

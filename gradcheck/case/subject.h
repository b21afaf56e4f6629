// SPDX-License-Identifier: Apache-2.0
//
// The subject of a gradient case: its model in the type of the case, inputs and
// initializers of its class, and those of both that gradients are taken by. An
// oracle and a judge make the same subject from one test_id and seed.

#pragma once

#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

/// Between which ends of a graph gradients flow, by the catalogue. A path leads
/// through parameters that are differentiable, from an input or an initializer
/// to an output. The catalogue says nothing of subgraphs, of collections and of
/// functions of the model: whatever such a node reads flows into all that it
/// gives.
class Flow {
 public:
  /// The flow in a main graph, which is not kept.
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

/// Unsupported, reason not_differentiable, when nothing can be differentiated.
/// Files that hold a subject as it is (suite::SubjectInFiles) are taken so.
Result<suite::Subject> SubjectOf(const GradientCase& c);

/// The shapes of the targets: inputs, and behind them initializers.
std::vector<Shape> ShapesOfTargets(const suite::Subject& subject);

/// The type that the sums of a case's gradients are kept in: that which the
/// plan says (claims.txt), in a model of one node without a graph in it.
/// Between nodes numbers are stored in the case's own type, and so are sums.
DType AccumulatorOf(const record::PlanRow& row, const Graph& graph, DType own);

/// One for each output of the model: whether a cotangent flows into it
/// (Flow).
std::vector<bool> CarryingOutputs(const Model& model);

/// How many significant bits a cotangent of such a type has: those of the type
/// or nearly so, that what a backward reads in a narrower one is another
/// number; 5 in the class exact, so that sums of products have few.
int CotangentBits(DType type, InputClass input_class);

/// The same for each output of the model; 0 where none flows.
std::vector<int> CotangentBits(const Model& model, InputClass input_class);

}  // namespace assay::gradcheck

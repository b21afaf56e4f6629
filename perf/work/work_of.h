// SPDX-License-Identifier: Apache-2.0
//
// The work of nodes and models, by the operators' signatures and the shapes of
// their values. A time beside it says how near a machine's limits a backend is.
//
//   ASSAY_ASSIGN_OR_RETURN(const ModelWork done, WorkOf(model));
//   const double gflop_per_s = done.work.flops / seconds / 1e9;

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "perf/work/work.h"

namespace assay::work {

/// The work of a node of the graph, whose operators are in their current
/// version and whose values have types, as PrepareGraph makes them; weights are
/// inputs as others are. If, Loop and Scan do what the nodes of the bodies that
/// run do. Unsupported with the node's label and the reason: operator, where
/// the signature does not tell the work (UnknownOperators) or the operator is
/// none of ONNX's; shape, for an unknown shape; value, where a number decides
/// that the model does not fix; dtype and value kind, for texts and for values
/// whose type does not say how large they are.
Result<Work> WorkOf(const Node& node, const Graph& graph);

struct ModelWork {
  Work work;                         // the sum over all nodes that are known
  std::vector<std::string> unknown;  // of each other node, why
};

/// The same of all nodes of a graph in that form.
ModelWork WorkOf(const Graph& graph);

/// The same of a model in any form, with the shapes that inference finds.
/// Fails for a model that PrepareGraph refuses.
Result<ModelWork> WorkOf(const std::shared_ptr<const Model>& model);

/// The same of a model that is fed these values, in the order of its graph's
/// inputs: the integers and booleans among them, where they are few, decide
/// axes, shapes, branches and trips as if the model fixed them.
Result<ModelWork> WorkOf(const std::shared_ptr<const Model>& model,
                         std::span<const Value> inputs);

/// An operator of ONNX whose signature and shapes do not tell its work.
struct UnknownOperator {
  std::string_view op;  // of ai.onnx; "ai.onnx.ml:TreeEnsemble" of another
  std::string_view because;
};

/// All of them, by name.
std::vector<UnknownOperator> UnknownOperators();

/// The operators, in the same form, that have a rule, those above included.
std::vector<std::string_view> KnownToRules();

}  // namespace assay::work

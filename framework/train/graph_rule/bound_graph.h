// SPDX-License-Identifier: Apache-2.0
//
// BoundGraph: the nodes of a rule on a backend, tied to the memory of one
// parameter, ready for any number of steps.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const auto graph,
//       BoundGraph::Of(backend, rule.update, {{"x", x}, {"g", g}}, {{"x", x}}));
//   ASSAY_RETURN_IF_ERROR(graph->Run({.step = 1, .rate = 0.1}));   // x is the next

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/graph_rule/rule_graph.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

/// A tensor that nodes call so; it shares its memory.
struct Tie {
  std::string name;
  Tensor memory;
};

/// It owns its network; the backend must live as long.
class BoundGraph {
 public:
  /// `read` are inputs, and `written` some of them; all are of one type and
  /// shape. Unsupported, with the backend's own words, where it declines the
  /// nodes.
  static Result<std::unique_ptr<BoundGraph>> Of(Backend& backend,
                                                const RuleGraph& graph,
                                                const std::vector<Tie>& read,
                                                std::vector<Tie> written);

  /// Runs the nodes and takes over what they give: the backend writes into
  /// memory of its own, and all that is written is copied behind the run.
  Status Run(const Progress& at);

 private:
  BoundGraph() = default;
  Status SetFactors(const Progress& at);

  std::vector<Factor> factors_;
  std::vector<Tensor> numbers_;  // of the factors
  std::vector<Tie> written_;
  std::vector<Tensor> next_;  // of each that is written
  std::unique_ptr<Network> network_;
  std::unique_ptr<Binding> binding_;
};

}  // namespace assay::train

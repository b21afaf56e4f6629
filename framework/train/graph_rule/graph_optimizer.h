// SPDX-License-Identifier: Apache-2.0
//
// GraphOptimizer: an optimizer whose rule a backend runs, as nodes of ONNX, so that
// the arithmetic of its steps is the backend's.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       Made made, MakeGraphOptimizer({"adam", "keras", "rate=0.01"}, backend));
//   ASSAY_ASSIGN_OR_RETURN(const double loss, made.optimizer->Step(objective));
//
// Clips, and the decay of weights outside of the rule, are ours, as in every
// ThreeStepOptimizer.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/graph_rule/bound_graph.h"
#include "framework/train/graph_rule/rule_graph.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/rule/optimizers.h"

namespace assay::train {

/// Its graphs are bound at the first step, before a gradient is taken. The
/// backend must outlive it.
class GraphOptimizer : public ThreeStepOptimizer {
 public:
  GraphOptimizer(Recipe recipe, GraphRule rule, Backend& backend)
      : ThreeStepOptimizer(std::move(recipe)),
        rule_(std::move(rule)),
        backend_(backend) {}

 protected:
  std::vector<Slot> StateOfEach() const override { return rule_.slots; }
  /// Unsupported where the backend declines a graph.
  Status PrepareParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override;
  Status RestoreParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override;
  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override;

 private:
  /// The graphs of one parameter, and the memory that they are tied to.
  struct Bound {
    Tensor parameter, gradient;
    Slots slots;
    std::unique_ptr<BoundGraph> prepare, restore, update;

    bool IsOf(const Tensor& other, const Slots& others) const;
  };

  Result<Bound> Bind(const Slots& slots, const Tensor& parameter);
  Result<Bound*> BoundOf(const Slots& slots, const Tensor& parameter);

  GraphRule rule_;
  Backend& backend_;
  std::vector<Bound> bound_;
};

/// Errors as MakeOptimizer's; unsupported for an optimizer without a graph.
Result<Made> MakeGraphOptimizer(const Wanted& wanted, Backend& backend,
                                Recipe recipe = {});

}  // namespace assay::train

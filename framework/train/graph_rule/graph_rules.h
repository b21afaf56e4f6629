// SPDX-License-Identifier: Apache-2.0
//
// GraphRuleOf: the rules of optimizers as nodes of ONNX, which any backend can
// run, by name, with the conventions of a framework. Nodes are text:
//
//     next_velocity = Add(velocity, g) way = Mul(rate, next_velocity)
//     next_x = Sub(x, way)
//
// They read x, g, the slots and the factors by their names. A written value has
// "next_" before its name, so that the step overwrites nothing that it reads.
// The formulas and their sources are those of framework/train/rule.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/optimizer/recipe.h"
#include "framework/train/rule/optimizers.h"

namespace assay::train {

/// A number that is the same for all elements of a step: an input of one
/// element, computed in double and rounded to the parameter's type once.
struct Factor {
  std::string name;
  std::function<double(const Progress&)> at;
};

/// Nodes in ONNX's text form, and the factors that they read.
struct RuleGraph {
  std::vector<Factor> factors;
  std::string nodes;
};

/// No slot is a scalar.
struct GraphRule {
  std::vector<Slot> slots;
  RuleGraph update;  // of x, g and slots: writes x and every slot
  /// Move a parameter to where the gradient is taken, and back: of x and slots,
  /// write x.
  std::optional<RuleGraph> prepare, restore;
};

/// The names that nodes read and write, beside their factors.
struct Operands {
  std::vector<std::string> read, written;
};
Operands OperandsOfUpdate(const GraphRule& rule);
Operands OperandsOfMove(const GraphRule& rule);

/// The nodes for parameters of that type and shape: the inputs are what is
/// read, then the factors. Unsupported for types other than float32 and
/// float64.
Result<std::shared_ptr<const Model>> ModelOf(const RuleGraph& graph,
                                             const Operands& operands,
                                             DType type, const Shape& shape);

/// The shape of a factor for parameters of this shape: one element, and no more
/// axes than the parameters have.
Shape ShapeOfFactors(const Shape& parameter);

/// The operators of all nodes of a rule, each once and sorted.
Result<std::vector<std::string>> OperatorsOf(const GraphRule& rule);

/// A rule, what surrounds it, and all settings of both, by name.
struct ReadRule {
  GraphRule rule;
  Recipe recipe;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// As MakeOptimizer reads them; unsupported for an optimizer that HasGraphRule
/// does not know.
Result<ReadRule> GraphRuleOf(const Wanted& wanted, Recipe recipe = {});

/// False for accelegrad, whose step depends on the gradients of all parameters
/// together.
bool HasGraphRule(std::string_view optimizer);

/// An optimizer whose rule a backend runs, so that the arithmetic of its steps
/// is the backend's. Clips, and the decay of weights outside of the rule, are
/// ours, as in every ThreeStepOptimizer. Its graphs are bound at the first
/// step, before a gradient is taken. The backend must outlive it. Errors as
/// MakeOptimizer's; unsupported for an optimizer without a graph.
Result<Made> MakeGraphOptimizer(const Wanted& wanted, Backend& backend,
                                Recipe recipe = {});

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0
//
// GraphRule: an update rule as nodes of ONNX, which any backend can run.
//
//   GraphRule rule;
//   rule.slots = {{"velocity"}};
//   rule.update.factors = {{"rate", [](const Progress& at) { return at.rate; }}};
//   rule.update.nodes =
//       "next_velocity = Add(velocity, g) way = Mul(rate, next_velocity) "
//       "next_x = Sub(x, way)";
//
// Nodes read x, g, the slots and the factors by their names. What is written has
// "next_" before the name, so that nothing is read that the step has written.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/train/optimizer/optimizer.h"

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

/// What nodes read and write beside their factors, by name.
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

/// Of a factor of such parameters: one element, and no more axes than they
/// have.
Shape ShapeOfFactors(const Shape& parameter);

/// Of all nodes of a rule, each once and sorted.
Result<std::vector<std::string>> OperatorsOf(const GraphRule& rule);

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0
//
// Properties that must hold between backward runs, whatever the gradient is:
// those of one binding; those of examples in another order; those of the parts
// of a cotangent.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck {

struct Structure {
  /// The first thing that does not hold; empty when all do.
  std::string fault;
  bool nondeterministic = false;  // that is the fault
  int distinct_results = 1;       // of two backward runs of the same
  bool zero_ok = true;
  std::optional<bool> missing_ok;  // nothing where there is one cotangent
  double linearity = 0;            // greatest error over limit
};

/// In order: a second backward gives the same bits; a cotangent of zeros gives
/// zeros; twice the cotangent gives twice the gradient; a missing cotangent is
/// as zeros; a target alone has the gradient that it has among all; a forward
/// of another binding changes nothing; gradients that are bound,
/// those of examples in another order and those of inputs that two
/// nodes read are the same; no memory was written that is not the
/// backend's.
Result<Structure> StructureOf(Trial& trial, const Judged& judged);

/// Along which axis the examples lie in each input and output of a model; -1
/// where a value belongs to no example.
struct BatchAxes {
  std::vector<int> inputs;
  std::vector<int> outputs;
};

/// The batch axes of a model of one node whose operator has independent
/// examples; nothing for any other model. `inputs` are as Bind takes them.
std::optional<BatchAxes> BatchAxesOf(const Graph& graph,
                                     std::span<const Value> inputs);

/// Where the examples of a batch have nothing to do with each other, the
/// gradient by their data in another order is the gradient in that order, and
/// that by weights stays: nothing may depend on an example that came before.
/// Runs the first binding with the examples, and the cotangents, in reverse
/// order, and then with its own inputs again. Empty where the gradients are
/// those that were judged, in that order, or where there are no two examples.
Result<std::string> ReversedBatchFault(Trial& trial, const Judged& judged);

/// Every element of every Jacobian, a backward for each element of the outputs:
/// what a backward gives for one cotangent it must give for the parts of it.
/// With cotangents that are nowhere zero no part can hide. The rows, each times
/// its cotangent, against the gradients that were judged; empty where their
/// sums are near. Nothing where outputs times inputs, or outputs times outputs,
/// are more than a million elements.
Result<std::optional<std::string>> JacobianFault(Trial& trial,
                                                 const Judged& judged);

}  // namespace assay::gradcheck

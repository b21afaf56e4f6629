// SPDX-License-Identifier: Apache-2.0
//
// Reverse mode over a Program: the steps that take part, found at Load. A
// GradientRun (gradient_run.h) walks them in reverse.

#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager/program.h"

namespace assay::eager {

struct GradientPlan {
  std::map<std::string, ValueId, std::less<>> targets;
  /// By ValueId: a tensor of an IsGradientType, so that gradients pass.
  std::vector<bool> carries;
  /// A step between a target and an output.
  struct Taken {
    size_t step = 0;
    std::vector<ValueId> reads;  // ReadsOf its node
  };
  std::vector<Taken> steps;  // ascending
};

/// The values that a node reads, in the order of a GradientContext: its inputs,
/// with kNoValue for an omitted one, then what its subgraphs capture.
std::vector<ValueId> ReadsOf(const Node& node);

/// As EagerBackend::MakeBackward.
using MakeBackward = std::function<Result<BackwardFunction>(LoadContext&)>;

/// Marks the steps that take part as saving, and gives those a backward that
/// have none. Not found for a target that is no value of the graph;
/// unsupported, reason gradient, as EagerBackend::Load says.
Result<GradientPlan> PlanGradient(Program& program, const LoadScope& scope,
                                  std::span<const std::string> targets,
                                  const LoadOptions& options,
                                  const MakeBackward& make_backward);

}  // namespace assay::eager

// SPDX-License-Identifier: Apache-2.0
//
// FirstCause: the first node of a network that is wrong at one place, forward or
// backward.
//
//   ASSAY_ASSIGN_OR_RETURN(
//       const NodeFault fault,
//       FirstCause(subject, judge, place, wide_place, draw));
//   fault.op_type;   // "Conv"; empty: none is wrong
//
// Values are looked at in the order of the graph, gradients in reverse order: the
// gradient by what a node reads is the node's own. What roundings explain is seen
// as in optdiff/beside_judge.h.

#pragma once

#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/optdiff/judge_network.h"

namespace assay::bisect {

struct NodeFault {
  std::string op_type;  // empty: no node is wrong
  bool is_backward = false;
  std::string value;  // what it computes, or by what the gradient is
  /// "element 3 is 1, wanted 2", the worst one.
  std::string element;
  /// True where the errors are of many elements and of either sign, as those of sums
  /// in fewer digits are; then how many.
  bool is_noise = false;
  double digits = 0;  // binary ones that are right
};

/// A network as somebody runs it.
struct Running {
  std::shared_ptr<const Model> model;
  Backend& backend;
};

/// `wide` is the same network in float64, on the judge. Both places are one.
Result<NodeFault> FirstCause(const Running& narrow, const Running& wide,
                             const optdiff::Place& narrow_place,
                             const optdiff::Place& wide_place, draw::Draw draw);

}  // namespace assay::bisect

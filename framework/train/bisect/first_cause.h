// SPDX-License-Identifier: Apache-2.0
//
// FirstCause: the first node of a network that is wrong at one place, forward
// or backward. Values are compared in the order of the graph, gradients in
// reverse order. A gradient by a value belongs to the node that reads it.
// Roundings explain as much as in optdiff/beside_judge.h.

#pragma once

#include <memory>
#include <string>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/optdiff/beside_judge.h"

namespace assay::bisect {

struct NodeFault {
  std::string op_type;  // empty: no node is wrong
  bool is_backward = false;
  std::string value;  // that it computes, or that the gradient is taken by
  /// The worst element, as "element 3 is 1, wanted 2".
  std::string element;
  /// True when many elements are off, in either direction, as sums kept in
  /// fewer digits are. `digits` then says how many digits are right.
  bool is_noise = false;
  double digits = 0;  // binary digits that are right
};

/// A model and the backend that runs it.
struct Running {
  std::shared_ptr<const Model> model;
  Backend& backend;
};

/// `wide` is the same network in float64 on the judge, and `wide_place` the
/// same place.
Result<NodeFault> FirstCause(const Running& narrow, const Running& wide,
                             const optdiff::Place& narrow_place,
                             const optdiff::Place& wide_place, draw::Draw draw);

}  // namespace assay::bisect

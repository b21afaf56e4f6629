// SPDX-License-Identifier: Apache-2.0
//
// The forms in which ONNX's operators give their trees, brought to one.
//
//   ASSAY_ASSIGN_OR_RETURN(const Trees trees, TreesOf(op, dtype));

#pragma once

#include "backends/reference/ops/traditionalml/tree.h"
#include "framework/core/status.h"
#include "framework/graph/generated/operators.h"

namespace assay::reference {

/// The operators as trees, checked. Invalid argument for lists of different
/// lengths, unknown modes, and whatever Check finds.
Result<Trees> TreesOf(const op::ml::TreeEnsemble& op, DType input);
Result<Trees> TreesOf(const op::ml::TreeEnsembleRegressor& op);
Result<Trees> TreesOf(const op::ml::TreeEnsembleClassifier& op);

}  // namespace assay::reference

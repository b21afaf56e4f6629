// SPDX-License-Identifier: Apache-2.0
//
// InnerValues: every value of a network at one place, and the gradient of the loss by
// each, by the backend that it runs on.
//
//   ASSAY_ASSIGN_OR_RETURN(const InnerValues got,
//                          InnerValuesOf(*model, backend, place));
//   got.values[0].name;   // that the first node computes

#pragma once

#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/graph/model.h"
#include "framework/train/optdiff/judge_network.h"

namespace assay::bisect {

struct InnerValue {
  std::string name;
  Tensor value;     // of float32 or float64
  Tensor gradient;  // undefined where it was not asked for
};

struct InnerValues {
  /// What nodes compute, in the order of the graph, without what is of another type.
  std::vector<InnerValue> values;
  /// The parameters, with their gradients.
  std::vector<InnerValue> parameters;
};

/// The inputs of the model are those of the place, parameters by name and the batch
/// in its order; the loss is its last output. As Load and Bind decline, and where
/// the backend gives no inner values.
Result<InnerValues> InnerValuesOf(const Model& whole, Backend& backend,
                                  const optdiff::Place& place);

}  // namespace assay::bisect

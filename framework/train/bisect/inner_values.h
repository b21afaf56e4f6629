// SPDX-License-Identifier: Apache-2.0
//
// InnerValues: every value of a network at one place, and the gradient of the
// loss by each, as the backend computes them.
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
  /// The values of float32 and float64 that nodes compute, in the order of the
  /// graph.
  std::vector<InnerValue> values;
  /// The parameters, with their gradients.
  std::vector<InnerValue> parameters;
};

/// Runs the model at the place: parameters by name, the batch in its order. The
/// loss is its last output. Declines as Load and Bind do, and where the backend
/// gives no inner values or gradients.
Result<InnerValues> InnerValuesOf(const Model& whole, Backend& backend,
                                  const optdiff::Place& place);

}  // namespace assay::bisect

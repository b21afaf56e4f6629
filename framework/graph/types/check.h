// SPDX-License-Identifier: Apache-2.0
//
// CheckModel: what ONNX's own checker says of a model.
//
//   ASSAY_RETURN_IF_ERROR(CheckModel(*model));

#pragma once

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::types {

/// Invalid argument, in ONNX's words, for a model that its checker refuses. The
/// checker is not asked about a model that says it is checked, nor about one of
/// an IR version that it does not know, nor about one with external data, which
/// it would look for elsewhere; and not about functions of another opset than
/// the model's, which we inline. A deprecated operator, which has a current
/// form, is let through. The first call costs the start of ONNX's schema
/// registry (8 to 17 ms).
Status CheckModel(const Model& model);

}  // namespace assay::types

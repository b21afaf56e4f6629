// SPDX-License-Identifier: Apache-2.0
//
// A model that needs no other file: its external data stands in its bytes.
//
//   ASSAY_ASSIGN_OR_RETURN(const std::string bytes, WholeModel(*model));
//   bytes.empty();   // where the model's own bytes are whole

#pragma once

#include <string>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// The serialized model with its external data in it; empty for one without
/// any, whose own bytes are whole. Resource exhausted for more than 2 GiB,
/// protobuf's limit.
Result<std::string> WholeModel(const Model& model);

}  // namespace assay::edit

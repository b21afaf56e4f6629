// SPDX-License-Identifier: Apache-2.0
//
// A model twice over: every node once more, on the same inputs, so that each
// input has two readers of each kind. The gradients of both halves add up.
//
//   ASSAY_ASSIGN_OR_RETURN(auto both, Doubled(*model, "unread"));

#pragma once

#include <memory>
#include <string>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::edit {

/// The model whose outputs come twice, first as they were, then those of the
/// second half. Initializers are shared. Behind its inputs it has one more, a
/// vector of two float32, of the name `unread`, that no node reads. Invalid
/// argument for a model that has such a value.
Result<std::shared_ptr<const Model>> Doubled(const Model& model,
                                             const std::string& unread);

}  // namespace assay::edit

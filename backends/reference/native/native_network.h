// SPDX-License-Identifier: Apache-2.0
//
// The networks of a load for training: one whose operators draw from a given
// seed, and one that takes a whole step itself, whose parameters the operators
// of ai.onnx.preview.training update.

#pragma once

#include <functional>
#include <memory>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::reference {

/// The network with `Draws`: its operators without a seed of their own draw
/// from the seed of a run and the number of a step.
std::unique_ptr<Network> WithDraws(std::unique_ptr<Network> network);

/// Loads a network without a step.
using LoadPlain = std::function<Result<std::unique_ptr<Network>>(
    std::shared_ptr<const Model>, const LoadOptions&)>;

/// With a NativeStep, in mode kTraining. A model without trainable
/// initializers, with one that is of neither float32 nor float64, or without
/// their gradients, is loaded as it would be without a step. The backend, which
/// runs the updates, must outlive it.
Result<std::unique_ptr<Network>> LoadNative(
    Backend& backend, const std::shared_ptr<const Model>& model,
    const LoadOptions& options, const LoadPlain& load);

}  // namespace assay::reference

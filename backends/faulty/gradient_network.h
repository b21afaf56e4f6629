// SPDX-License-Identifier: Apache-2.0
//
// The networks around a right one whose gradients are wrong.
//
//   return WithSpoiledGradient(std::move(right), *model, options, what);

#pragma once

#include <memory>

#include "backends/faulty/gradient_defect.h"
#include "framework/backend/backend.h"

namespace assay::faulty {

/// `right` with that gradient spoiled; `right` itself where the model has none.
/// Invalid argument for a rule that there is not.
Result<std::unique_ptr<Network>> WithSpoiledGradient(
    std::unique_ptr<Network> right, const Model& model,
    const LoadOptions& options, const GradientMutant& what);

/// `right` with the gradients of `wrong`.
std::unique_ptr<Network> WithGradientsOf(std::unique_ptr<Network> right,
                                         std::unique_ptr<Network> wrong);

}  // namespace assay::faulty

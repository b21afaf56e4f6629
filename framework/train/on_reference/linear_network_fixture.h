// SPDX-License-Identifier: Apache-2.0
//
// A linear network of the reference in float64 with a loss, for tests of
// training.
//
//   const auto objective = LinearNetwork({});
//   ASSAY_RETURN_IF_ERROR(objective->Put(batch));   // float64[N,2], int64[N]

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/train/model/new_model.h"
#include "framework/train/network_objective.h"

namespace assay::on_reference {

/// y = x w + b, of 2 features and 3 classes; w and b are its parameters.
inline constexpr char kLinear[] =
    "g (double[N,2] x) => (double[N,3] y) "
    "<double[2,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5}, "
    "double[3] b = {0.1, 0, -0.2}> { h = MatMul(x, w) y = Add(h, b) }";

/// That with a normalization behind it whose running statistics m and v are no
/// parameters, and with half of the features dropped.
inline constexpr char kNormalized[] =
    "g (double[N,2] x) => (double[N,3] y) "
    "<double[2,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5}, "
    "double[3] s = {1, 2, 0.5}, double[3] b = {0.1, 0, -0.2}, "
    "double[3] m = {0.5, 0, -1}, double[3] v = {1, 2, 4}> "
    "{ d = Dropout(x) h = MatMul(d, w) "
    "y = BatchNormalization<momentum = 0.9, epsilon = 0.01>(h, s, b, m, v) }";

/// A batch for either: the features of each sample after those of the one
/// before.
inline constexpr size_t kSamples = 6, kFeatures = 2, kClasses = 3;
inline const std::vector<double> kX = {1, 2,    -1, 0.5, 3,   -2,
                                       0, 0.25, -3, 1,   0.5, 0.5};

/// The linear one, or another: its initializers are the parameters but for
/// running statistics, and its masks are drawn from the seed 1.
inline std::unique_ptr<train::NetworkObjective> LinearNetwork(
    const edit::LossEdit& loss,
    const std::shared_ptr<const Model>& model = graph::ModelOfText(kLinear)) {
  return Got(train::NetworkObjective::Load(
      Reference(), Got(train::TraineeOf(Got(train::NewModelOf(*model)), loss,
                                        /*seed=*/1))));
}

}  // namespace assay::on_reference

// SPDX-License-Identifier: Apache-2.0
//
// A linear network of the reference in float64 with a loss, and small training
// runs of it, for tests of training.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/testing/support/backends_fixture.h"
#include "framework/testing/support/tensors_fixture.h"
#include "framework/train/data/dataset.h"
#include "framework/train/model/new_model.h"
#include "framework/train/network_objective.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"

namespace assay::on_reference {

/// y = x w + b, of 2 features and 3 classes; w and b are its parameters.
inline constexpr char kLinear[] =
    "g (double[N,2] x) => (double[N,3] y) "
    "<double[2,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5}, "
    "double[3] b = {0.1, 0, -0.2}> { h = MatMul(x, w) y = Add(h, b) }";

/// kLinear with a normalization behind it, whose running statistics m and v are
/// no parameters.
inline std::string Normalized(std::string_view h) {
  return StrCat(
      "g (double[N,2] x) => (double[N,3] y) "
      "<double[2,3] w = {0.5, -1, 0.25, 1, 0.75, -0.5}, "
      "double[3] s = {1, 2, 0.5}, double[3] b = {0.1, 0, -0.2}, "
      "double[3] m = {0.5, 0, -1}, double[3] v = {1, 2, 4}> {",
      h,
      "y = BatchNormalization<momentum = 0.9, epsilon = 0.01>(h, s, b, m, v) "
      "}");
}
/// Half of the features are dropped.
inline const std::string kNormalized =
    Normalized("d = Dropout(x) h = MatMul(d, w) ");

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

/// Samples around three corners, each of a class, which a linear network tells
/// apart.
inline train::Dataset Corners(int64_t samples) {
  constexpr double kCorners[3][2] = {{2, 0}, {-1, 2}, {-1, -2}};
  std::vector<double> x;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < samples; ++i) {
    const auto angle = static_cast<double>(i);
    labels.push_back(i % 3);
    x.push_back(kCorners[i % 3][0] + 0.5 * std::cos(angle));
    x.push_back(kCorners[i % 3][1] + 0.5 * std::sin(2 * angle));
  }
  return Got(train::Dataset::Of(Doubles({samples, 2}, x),
                                Int64s({samples}, labels), 3));
}

struct CornersRun {
  explicit CornersRun(std::string_view settings,
                      edit::Loss loss = edit::Loss::kSoftmaxCrossEntropy,
                      const std::string& network = kLinear)
      : dataset(Corners(50)), optimizer(Optimizer(settings)) {
    edit::LossEdit edit;
    edit.loss = loss;
    objective = LinearNetwork(edit, graph::ModelOfText(network));
  }

  static std::unique_ptr<train::Optimizer> Optimizer(
      std::string_view settings) {
    return Got(train::MakeOptimizer({"momentum", "paper", settings})).optimizer;
  }

  train::Training Run(int64_t epochs,
                      std::vector<train::TrainingEvent*> events = {}) {
    train::Training training{
        *objective,
        *optimizer,
        {&dataset, Got(train::ShuffledSampler({50, 8}, 1))}};
    training.test =
        train::Samples{&dataset, Got(train::OrderedSampler({50, 16}))};
    training.epochs = epochs;
    training.events = std::move(events);
    return training;
  }

  train::Dataset dataset;
  std::unique_ptr<train::NetworkObjective> objective;
  std::unique_ptr<train::Optimizer> optimizer;
};

}  // namespace assay::on_reference

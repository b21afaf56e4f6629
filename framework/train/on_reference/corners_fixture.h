// SPDX-License-Identifier: Apache-2.0
//
// CornersRun: a small training run of the reference in float64, for tests of training.
//
//   CornersRun run("rate=0.1");
//   ASSAY_ASSIGN_OR_RETURN(const train::Trained trained, train::Train(run.Run(10)));

#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"
#include "framework/train/data/dataset.h"
#include "framework/train/data/sampler.h"
#include "framework/train/on_reference/linear_network_fixture.h"
#include "framework/train/rule/optimizers.h"
#include "framework/train/trainer.h"

namespace assay::on_reference {

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
  return Got(train::Dataset::Of(Got(Tensor::Of<double>({samples, 2}, x)),
                                Got(Tensor::Of<int64_t>({samples}, labels)),
                                3));
}

/// A run on them and what it is of.
struct CornersRun {
  explicit CornersRun(std::string_view settings,
                      edit::Loss loss = edit::Loss::kSoftmaxCrossEntropy,
                      const char* network = kLinear)
      : dataset(Corners(50)), optimizer(Optimizer(settings)) {
    edit::LossEdit edit;
    edit.loss = loss;
    objective = LinearNetwork(edit, graph::ModelOfText(network));
  }

  static std::unique_ptr<train::Optimizer> Optimizer(
      std::string_view settings) {
    return Got(train::MakeOptimizer({"momentum", "paper", settings})).optimizer;
  }

  train::Training Run(int64_t epochs) {
    train::Training training{
        *objective,
        *optimizer,
        {&dataset, Got(train::ShuffledSampler({50, 8}, 1))}};
    training.test =
        train::Samples{&dataset, Got(train::OrderedSampler({50, 16}))};
    training.epochs = epochs;
    return training;
  }

  train::Dataset dataset;
  std::unique_ptr<train::NetworkObjective> objective;
  std::unique_ptr<train::Optimizer> optimizer;
};

}  // namespace assay::on_reference

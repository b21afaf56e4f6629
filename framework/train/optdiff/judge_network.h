// SPDX-License-Identifier: Apache-2.0
//
// JudgeNetwork: the judge's network in float64. It gives its loss and gradients
// at the place of another network.
//
//   JudgeNetwork judge(std::move(objective));
//   const Place place{batch, parameters};
//   ASSAY_ASSIGN_OR_RETURN(const auto exact, judge.At(place));
//
// Several threads may ask it; it answers one after the other.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// A batch and where the parameters are.
struct Place {
  /// The tensor of an input: the one of its name, or the next of the batch.
  Tensor InputOf(std::string_view name, size_t* next) const;

  std::span<const Tensor> batch;
  std::span<const train::Parameter> parameters;
  /// Running statistics before the step and the masks in it.
  std::span<const train::Parameter> given = {};
  int64_t step = 0;  // of the masks, from 0
};

class JudgeNetwork {
 public:
  struct Answer {
    double loss = 0;
    std::vector<std::vector<double>> gradients;   // of each parameter
    std::vector<std::vector<double>> statistics;  // as they are fed back
  };

  /// Its parameters are of float64.
  explicit JudgeNetwork(std::unique_ptr<train::NetworkObjective> objective)
      : objective_(std::move(objective)) {}

  /// The batch is of float64. Asking twice in a row at one place costs one
  /// evaluation.
  Result<std::shared_ptr<const Answer>> At(const Place& place);

  /// Does the same with one roundoff, up or down, added to each parameter and
  /// each number of the batch.
  Result<Answer> Rounded(const Place& place, double roundoff, draw::Draw* draw);

 private:
  bool IsLast(const Place& place) const;
  void Go(const Place& place);
  Result<Answer> Evaluate(std::span<const Tensor> batch);

  std::mutex mutex_;
  std::unique_ptr<train::NetworkObjective> objective_;
  std::shared_ptr<const Answer> last_;
  std::vector<Tensor> last_batch_, last_parameters_, last_given_;
};

}  // namespace assay::optdiff

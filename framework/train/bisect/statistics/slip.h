// SPDX-License-Identifier: Apache-2.0
//
// SlipOf: names the mistake of a backend that feeds a running statistic back
// otherwise than ONNX's BatchNormalization says: next = momentum * before + (1
// - momentum) * batch.
//
//   const Feeder feeder = FeederOf(graph, "norm1_var");
//   feeder.value;                     // "h2", which the node computes
//   SlipOf(numbers, feeder);          // "is not fed back"

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "framework/graph/model.h"

namespace assay::statistics {

/// The node that reads a statistic, named by the first value that it computes.
struct Feeder {
  std::string op_type = "?", value;
  double momentum = 0.9;
  bool is_variance = false;
};

/// `value` is empty where no node reads the statistic.
Feeder FeederOf(const Graph& graph, std::string_view statistic);

/// A statistic before a step, after it, and as it should be after it.
struct FedNumbers {
  std::span<const double> before, got, wanted;
};

/// Says "is not fed back", "has the momentum for one minus it", "is the
/// variance of a sample of 64, wanted that of a population", or "is fed back
/// otherwise" where none of these explains it.
std::string SlipOf(const FedNumbers& fed, const Feeder& feeder);

}  // namespace assay::statistics

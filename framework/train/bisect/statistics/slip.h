// SPDX-License-Identifier: Apache-2.0
//
// SlipOf: what somebody did who feeds a running statistic back otherwise than ONNX's
// BatchNormalization says: next = momentum * before + (1 - momentum) * of the batch.
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

/// The node that reads a statistic, by the first value that it computes.
struct Feeder {
  std::string op_type = "?", value;
  double momentum = 0.9;
  bool is_variance = false;
};

/// Without a value where no node reads it.
Feeder FeederOf(const Graph& graph, std::string_view statistic);

/// A statistic before a step and behind it, and what it should be there.
struct FedNumbers {
  std::span<const double> before, got, wanted;
};

/// "is not fed back", "has the momentum for one minus it", "is the variance of a sample
/// of 64, wanted that of a population", or "is fed back otherwise" where none of these
/// explains it.
std::string SlipOf(const FedNumbers& fed, const Feeder& feeder);

}  // namespace assay::statistics

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/statistics/slip.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>
#include <vector>

#include "framework/core/text.h"

namespace assay::statistics {
namespace {

double Apart(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(squares);
}

/// Computes momentum * before + rest * batch.
std::vector<double> Mixed(std::span<const double> before,
                          std::span<const double> batch, double momentum,
                          double rest) {
  std::vector<double> mixed;
  for (size_t i = 0; i < before.size(); ++i) {
    mixed.push_back(momentum * before[i] + rest * batch[i]);
  }
  return mixed;
}

/// The factor by which the statistic of the batch was multiplied: least squares
/// over all elements.
double FactorOf(const FedNumbers& fed, std::span<const double> batch,
                double momentum) {
  double products = 0;
  double squares = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const double of_batch = (1 - momentum) * batch[i];
    products += (fed.got[i] - momentum * fed.before[i]) * of_batch;
    squares += of_batch * of_batch;
  }
  return products / squares;
}

}  // namespace

Feeder FeederOf(const Graph& graph, std::string_view statistic) {
  for (const Node& node : graph.nodes) {
    const auto found = std::ranges::find_if(node.inputs, [&](const ValueId id) {
      return id != kNoValue && graph[id].name == statistic;
    });
    if (found == node.inputs.end()) continue;
    Feeder feeder{node.op_type, graph[node.outputs[0]].name};
    feeder.is_variance = found - node.inputs.begin() == 4;
    const Attribute* const momentum = node.Find("momentum");
    const auto* const number =
        momentum == nullptr ? nullptr : std::get_if<float>(&momentum->held);
    if (number != nullptr) feeder.momentum = double{*number};
    return feeder;
  }
  return {};
}

std::string SlipOf(const FedNumbers& fed, const Feeder& feeder) {
  constexpr double kOther =
      0.01;  // of a difference that a slip does not explain
  const double m = feeder.momentum;
  std::vector<double> batch;
  for (size_t i = 0; i < fed.before.size(); ++i) {
    batch.push_back((fed.wanted[i] - m * fed.before[i]) / (1 - m));
  }
  const double off = Apart(fed.got, fed.wanted);
  const auto explains = [&](std::span<const double> slip) {
    return Apart(fed.got, slip) <= kOther * off;
  };
  if (explains(fed.before)) return "is not fed back";
  if (explains(Mixed(fed.before, batch, 1 - m, m))) {
    return "has the momentum for one minus it";
  }
  const double factor = FactorOf(fed, batch, m);
  if (feeder.is_variance && factor > 1 &&
      explains(Mixed(fed.before, batch, m, (1 - m) * factor))) {
    return StrCat("is the variance of a sample of ",
                  std::lround(factor / (factor - 1)),
                  ", wanted that of a population");
  }
  return "is fed back otherwise";
}

}  // namespace assay::statistics

// SPDX-License-Identifier: Apache-2.0
//
// PushSumScheme: gossip on a directed graph, where ranks send to ranks that do
// not send back.
//
//   PushSumScheme scheme(mine, std::move(optimizer), Directed::kOnePeer);
//   ASSAY_RETURN_IF_ERROR(scheme.Step(objective).status());

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::ranks {

enum class Directed : uint8_t {
  kOnePeer,  // distance 1, 2, 4 ..., the next in each step
  kUneven,   // distance 1, and 2 from even ranks as well
};

/// The distances ahead of the ranks that a rank sends to. It keeps as large a
/// part as each of them gets.
std::vector<int> HopsOf(Directed graph, int rank, int ranks, int64_t step);

/// Stochastic gradient push. Source: M. Assran et al., "Stochastic gradient
/// push for distributed deep learning", 2019, algorithm 1.
///
/// A rank sends parts of its numbers and of its weight; the sums of both over
/// all ranks are invariant. The parameters are numbers / weight, so that all go
/// to the mean also where some ranks get more than they send. Numbers and
/// weight are float64, in one message.
class PushSumScheme : public OptimizerScheme {
 public:
  PushSumScheme(Endpoint& endpoint, std::unique_ptr<train::Optimizer> optimizer,
                Directed graph)
      : OptimizerScheme(endpoint, std::move(optimizer)), graph_(graph) {}
  Result<double> Step(train::Objective& objective) override;

  double weight() const { return mass_.empty() ? 1 : mass_.back(); }

 private:
  Status Push();

  const Directed graph_;
  int64_t steps_ = 0;
  std::vector<double> mass_;  // numbers of all parameters, then the weight
};

}  // namespace assay::ranks

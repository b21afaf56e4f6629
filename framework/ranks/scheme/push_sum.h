// SPDX-License-Identifier: Apache-2.0
//
// PushSumScheme: gossip of ranks that send to others without getting from them.
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
  kOnePeer,  // the one 1, 2, 4 ... ahead, another in each step
  kUneven,   // the next one, and of an even rank the one after it, too
};

/// How far ahead those are that a rank sends to. It keeps as large a part as each gets.
std::vector<int> HopsOf(Directed graph, int rank, int ranks, int64_t step);

/// Stochastic gradient push (M. Assran et al., "Stochastic gradient push for distributed
/// deep learning", 2019, algorithm 1). Parts of a rank's numbers and of its weight go to
/// others; over all ranks both sums stay what they are. The parameters are the numbers
/// over the weight, so that all go to the mean also where some get more than they send.
/// Numbers and weight are float64, in one message.
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
  std::vector<double> mass_;  // the numbers of all parameters, and the weight
};

}  // namespace assay::ranks

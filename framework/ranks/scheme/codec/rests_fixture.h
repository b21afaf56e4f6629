// SPDX-License-Identifier: Apache-2.0
//
// For tests of schemes with Rests: what was sent and what is left sum up to all
// gradients.
//
//   ExpectLosesNothing([](Endpoint& mine) {
//     return std::make_unique<SparseScheme>(mine, Made("gradient_descent"),
//                                           0.2);
//   });

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "framework/ranks/scheme/scheme_fixture.h"
#include "framework/ranks/threads/threads.h"

namespace assay::ranks {

struct Left {
  std::vector<float> parameters;  // of the first rank
  std::vector<float> rests;       // over all ranks, by each parameter's place
};

/// Runs plain descent on whole numbers by the schemes that `make` makes.
template <class Make>
Left LeftBy(const Make& make, int ranks) {
  std::vector<WholeObjective> objectives;
  for (int rank = 0; rank < ranks; ++rank) objectives.emplace_back(rank, ranks);
  std::vector<std::vector<float>> rests(objectives.size());
  const auto ended = RunThreads(ranks, [&](Endpoint& mine) {
    const auto rank = static_cast<size_t>(mine.rank());
    const auto scheme = make(mine);
    for (int i = 0; i < kSteps; ++i) {
      ASSAY_RETURN_IF_ERROR(scheme->Step(objectives[rank]).status());
    }
    for (const auto& rest : scheme->rests()) {
      rests[rank].insert(rests[rank].end(), rest.begin(), rest.end());
    }
    return OkStatus();
  });
  for (const Status& each : ended) EXPECT_TRUE(each.ok()) << each.ToString();
  Left left{objectives[0].Numbers(), std::vector<float>(rests[0].size())};
  for (const auto& rest : rests) {
    for (size_t i = 0; i < rest.size(); ++i) left.rests[i] += rest[i];
  }
  return left;
}

/// With a rate of 1/8 and a power of two of ranks nothing is rounded.
template <class Make>
void ExpectLosesNothing(const Make& make) {
  for (const int ranks : {1, 2, 4, 8}) {
    const Left left = LeftBy(make, ranks);
    const std::vector<float> wanted = Alone("gradient_descent", ranks);
    float waiting = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const float last = left.rests[i] / static_cast<float>(ranks) / 8;
      EXPECT_EQ(left.parameters[i] - last, wanted[i])
          << ranks << " ranks, place " << i;
      waiting += std::fabs(left.rests[i]);
    }
    EXPECT_GT(waiting, 0) << "or it sent all";
  }
}

}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0
//
// NetworkCase: a network that ranks train together, each on its share of a batch.
//
//   for (const NetworkCase& each : AllNetworkCases()) Use(each.test_id());

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "framework/testing/case/test_case.h"

namespace assay::distributed {

/// The last of them has a batch that is no multiple of the ranks.
inline constexpr int64_t kNetworkSteps = 4;

struct NetworkCase {
  std::string model;  // of train::MakeModel
  SchemeCase by;
  /// Trains until the test set has that accuracy, from 0 to 1; 0: some steps.
  double goal = 0;
  /// Of a case without a goal, the first ones of those that the plan has.
  int64_t steps = kNetworkSteps;

  /// "distributed/lenet5/train_all_reduce.ring.momentum#n4", or lenet5_to_95 in place of
  /// lenet5.
  std::string test_id() const;
  /// Nightly for one with a goal.
  cases::Tier tier() const;
};

/// By scheme, way and ranks.
std::vector<NetworkCase> AllNetworkCases();

/// Sums of float32 round: of the large batch all ranks have the same bits near it. What goes
/// by a codec that loses some of a gradient promises agreement alone.
Promise PromiseOf(const NetworkCase& test_case);

/// A row of the case as it is before it runs.
DistributedRow RowOf(const NetworkCase& test_case, const RunOf& run);

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0
//
// NetworkCase: a network that ranks train together, each on its share of a
// batch, and Student, that network on a backend. RunCase trains the digits on
// ranks, and beside them on one rank with whole batches, or until the test set
// has an accuracy.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/distributed/ranks/distributed_row.h"
#include "conformance/distributed/ranks/ranks_run.h"
#include "conformance/distributed/scheme/scheme_case.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/train/data/dataset.h"
#include "framework/train/network_objective.h"

namespace assay::distributed {

/// Steps of a case without a goal. The last batch is no multiple of the ranks.
inline constexpr int64_t kNetworkSteps = 4;

struct NetworkCase {
  std::string model;  // name for train::MakeModel
  SchemeCase by;
  /// The accuracy of the test set, from 0 to 1, at which the run ends; 0: after
  /// `steps`.
  double goal = 0;
  /// Steps of a case without a goal: the first ones of the plan's.
  int64_t steps = kNetworkSteps;

  /// "distributed/lenet5/train_all_reduce.ring.momentum#n4", or lenet5_to_95 in
  /// place of lenet5.
  std::string test_id() const;
  /// Nightly for a case with a goal.
  cases::Tier tier() const;
};

/// The cases of the plan, by scheme, way and ranks.
std::vector<NetworkCase> AllNetworkCases();

/// Sums of float32 round: for kLargeBatch, all ranks have the same bits, near
/// those of the large batch. A scheme with a lossy codec promises agreement
/// alone.
Promise PromiseOf(const NetworkCase& test_case);

/// The row of a case before it runs.
DistributedRow RowOf(const NetworkCase& test_case, const RunOf& run);

/// The digits, read once. Unavailable where they are missing.
Result<const train::Split*> Digits();

class Student {
 public:
  /// Loads a network with the same initial weights each time. One thread loads
  /// at a time: ranks may be threads. The dataset must outlive it.
  static Result<std::unique_ptr<Student>> Of(const std::string& model,
                                             Backend& backend,
                                             const train::Dataset& digits);

  Student(std::unique_ptr<train::NetworkObjective> network,
          const train::Dataset& digits)
      : network_(std::move(network)), digits_(digits) {}

  train::NetworkObjective& network() { return *network_; }
  Status Put(std::span<const int64_t> samples);
  /// The sizes of the parameters, in elements.
  std::vector<int64_t> Sizes();

 private:
  std::unique_ptr<train::NetworkObjective> network_;
  const train::Dataset& digits_;
};

/// Runs the case on networks of RunOf::backend, which must be given.
/// Unavailable without the digits.
measure::Judgement RunCase(const NetworkCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

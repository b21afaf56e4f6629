// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/network_case.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "framework/core/text.h"

namespace assay::distributed {
namespace {

constexpr int kNetworkRanks[] = {1, 2, 4, 8};
constexpr char kModel[] = "lenet5";
constexpr double kGoal = 0.95;

/// A scheme, and a way by which its tensors travel.
struct Kind {
  std::string_view scheme, way;
  Promise promise = Promise::kLargeBatch;
  /// Whether it comes to the goal at the rate of these cases. A bit for each number comes to
  /// 79 % in six epochs.
  bool comes_to_goal = true;
};

constexpr Kind kKinds[] = {
    {"train_all_reduce", "ring"},
    {"train_all_reduce", "recursive_doubling"},
    {"train_all_reduce", "own"},
    {"train_buckets", "ring"},
    {"train_server", "binomial"},
    {"train_sharded", "binomial"},
    {"train_float16", "ring", Promise::kAgreement},
    {"train_top_fifth", "ring", Promise::kAgreement},
    {"train_signs", "ring", Promise::kAgreement, false},
    {"train_sparse_fifth", "recursive_doubling", Promise::kAgreement}};

}  // namespace

std::string NetworkCase::test_id() const {
  const std::string until =
      goal > 0 ? StrCat("_to_", std::lround(100 * goal)) : "";
  return StrCat("distributed/", model, until, "/", by.scheme, ".", by.way, ".",
                by.optimizer, "#n", by.ranks, StepsText(steps, kNetworkSteps));
}

cases::Tier NetworkCase::tier() const {
  return goal > 0 ? cases::Tier::kNightly : cases::Tier::kCi;
}

std::vector<NetworkCase> AllNetworkCases() {
  std::vector<NetworkCase> all;
  for (const Kind& each : kKinds) {
    for (const int ranks : kNetworkRanks) {
      const SchemeCase by = {std::string(each.scheme), std::string(each.way),
                             "momentum", ranks, "rate=0.05"};
      all.push_back({kModel, by});
      // A server's parameters are sent with the next step, behind the test.
      if (HasEachStep(by) && each.comes_to_goal) {
        all.push_back({kModel, by, kGoal});
      }
    }
  }
  return all;
}

Promise PromiseOf(const NetworkCase& test_case) {
  return std::ranges::find(kKinds, test_case.by.scheme, &Kind::scheme)->promise;
}

DistributedRow RowOf(const NetworkCase& test_case, const RunOf& run) {
  DistributedRow row;
  row.scheme = StrCat(test_case.model, "/", test_case.by.scheme);
  row.optimizer = test_case.by.optimizer;
  row.collective = test_case.by.way;
  row.transport = run.transport;
  row.ranks = test_case.by.ranks;
  row.mode = test_case.goal > 0 ? "goal" : "network";
  row.seed = run.seed;
  return row;
}

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/network/network_case.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string_view>

#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/training.h"
#include "framework/train/format/datasets.h"
#include "framework/train/model/models.h"

namespace assay::distributed {
namespace {

constexpr int kNetworkRanks[] = {1, 2, 4, 8};
constexpr char kModel[] = "lenet5";
constexpr double kGoal = 0.95;

/// A scheme, and the way in which its tensors travel.
struct NetworkKind {
  std::string_view scheme, way;
  Promise promise = Promise::kLargeBatch;
  /// True where it reaches the goal at the rate of these cases. One bit a
  /// number reaches 79 % in six epochs.
  bool comes_to_goal = true;
};

constexpr NetworkKind kNetworkKinds[] = {
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
  for (const NetworkKind& each : kNetworkKinds) {
    for (const int ranks : kNetworkRanks) {
      const SchemeCase by = {std::string(each.scheme), std::string(each.way),
                             "momentum", ranks, "rate=0.05"};
      all.push_back({kModel, by});
      // A server sends parameters with the next step, after the test.
      if (HasEachStep(by) && each.comes_to_goal) {
        all.push_back({kModel, by, kGoal});
      }
    }
  }
  return all;
}

Promise PromiseOf(const NetworkCase& test_case) {
  return std::ranges::find(kNetworkKinds, test_case.by.scheme,
                           &NetworkKind::scheme)
      ->promise;
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

Result<const train::Split*> Digits() {
  static const Result<train::Split> digits =
      train::MakeDataset("digits", {file::DatasetDirectory(), /*seed=*/0});
  if (!digits.ok()) return Unavailable(digits.status().message());
  return &*digits;
}

Result<std::unique_ptr<Student>> Student::Of(const std::string& model,
                                             Backend& backend,
                                             const train::Dataset& digits) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  edit::LossEdit loss;
  loss.loss = edit::Loss::kSoftmaxCrossEntropyOfOneHot;
  ASSAY_ASSIGN_OR_RETURN(const train::NewModel made,
                         train::MakeModel(model, {.seed = 1}));
  ASSAY_ASSIGN_OR_RETURN(train::Trainee trainee,
                         train::TraineeOf(made, loss, /*seed=*/1));
  ASSAY_ASSIGN_OR_RETURN(
      auto network, train::NetworkObjective::Load(backend, std::move(trainee)));
  return std::make_unique<Student>(std::move(network), digits);
}

Status Student::Put(std::span<const int64_t> samples) {
  const train::Batch own(samples.begin(), samples.end());
  std::vector<Tensor> batch(2);
  ASSAY_ASSIGN_OR_RETURN(batch[0], digits_.Inputs(own));
  ASSAY_ASSIGN_OR_RETURN(batch[1], digits_.OneHot(own, DType::kFloat32));
  return network_->Put(batch);
}

std::vector<int64_t> Student::Sizes() {
  std::vector<int64_t> sizes;
  for (const train::Parameter& each : network_->parameters()) {
    sizes.push_back(each.value.num_elements());
  }
  return sizes;
}

}  // namespace assay::distributed

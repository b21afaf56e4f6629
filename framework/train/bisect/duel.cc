// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/duel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::bisect {
namespace {

using optdiff::LockedRun;
using quad::QuadTensor;

optdiff::StepRow NamesOf(const optdiff::Course& course, const Runner& a,
                         const Runner& b) {
  return {.run_a = "a",
          .run_b = "b",
          .backend_a = a.instance,
          .backend_b = b.instance,
          .optimizer_a = a.spec.optimizer,
          .optimizer_b = b.spec.optimizer,
          .preset_a = a.spec.preset,
          .preset_b = b.spec.preset,
          .tier_a = "rule",
          .tier_b = "rule",
          .network = course.name,
          .mode = "locked"};
}

}  // namespace

Result<std::unique_ptr<Duel>> Duel::Begin(const optdiff::Course& course,
                                          Runner a, Runner b,
                                          const optdiff::JudgeOf& judge,
                                          draw::Draw draw) {
  constexpr int64_t kRoundedEvery = 50;
  optdiff::StepRow names = NamesOf(course, a, b);
  const std::string rule = b.setup.optimizer;
  const bool is_one_optimizer = a.setup.optimizer == rule;
  const auto begin = [&](Runner& runner) -> Result<Side> {
    auto run = LockedRun::Begin(course, std::move(runner.setup), runner.backend,
                                judge, draw, kRoundedEvery);
    if (!run.ok()) return run.status().WithContext(runner.instance);
    return Side{runner.instance, *std::move(run)};
  };
  ASSAY_ASSIGN_OR_RETURN(Side first, begin(a));
  ASSAY_ASSIGN_OR_RETURN(Side second, begin(b));
  ASSAY_ASSIGN_OR_RETURN(
      auto cross, quad::MakeQuadRule(rule, second.run->lockstep().settings(),
                                     course.narrow.parameters.size()));
  std::unique_ptr<Duel> duel(new Duel(std::move(first), std::move(second),
                                      std::move(cross), std::move(names)));
  duel->is_one_rule_ =
      is_one_optimizer && duel->a_.run->lockstep().settings() ==
                              duel->b_.run->lockstep().settings();
  duel->x_ = quad::InQuad(course.narrow.parameters);
  return duel;
}

Status Duel::StepOne(int64_t step, Side* side) {
  optdiff::StepRows none({}, {}, nullptr);
  auto fault = side->run->Step(step, &none);
  if (!fault.ok()) return fault.status().WithContext(side->instance);
  if (!side->fault.has_value() && !fault->what.empty()) {
    side->fault = FirstFault{step, *std::move(fault)};
  }
  return OkStatus();
}

void Duel::StepAcross(int64_t step) {
  // With one rule for both, the judge of run a has this result already.
  if (is_one_rule_) {
    x_ = a_.run->lockstep().wanted();
    return;
  }
  const quad::QuadRule::StepInfo at = {
      .step = step, .schedule = b_.run->lockstep().ScheduleAt(step)};
  cross_->Prepare(at, &x_);
  cross_->Update(at, quad::InQuad(a_.run->objective().got()), &x_);
}

void Duel::AddGradients(std::vector<Pair>* pairs) {
  const optdiff::BesideJudge& a = a_.run->objective();
  const optdiff::BesideJudge& b = b_.run->objective();
  for (size_t p = 0; p < a.gradients().size(); ++p) {
    const optdiff::Distance& of_a = a.gradients()[p];
    const optdiff::Distance& of_b = b.gradients()[p];
    pairs->push_back({a.place()[p].name + ".gradient", a.got()[p], b.got()[p],
                      of_a.l2, of_b.l2,
                      a_.run->GradientLimit(p) + b_.run->GradientLimit(p)});
  }
}

/// Two updates may differ as their gradients make them, by run b's rule, and by
/// roundings.
void Duel::AddUpdates(std::vector<Pair>* pairs) {
  LockedRun& a = *a_.run;
  LockedRun& b = *b_.run;
  for (size_t p = 0; p < x_.size(); ++p) {
    const Tensor& of_a = a.lockstep().parameters()[p].value;
    const Tensor& of_b = b.lockstep().parameters()[p].value;
    const quad::Spread spread = quad::SpreadOf(of_b, x_[p]);
    // Nobody knows what an element without a limit may be.
    const double rounded = spread.unknown > 0
                               ? std::numeric_limits<double>::infinity()
                               : 2 * spread.explained;
    pairs->push_back({a.lockstep().parameters()[p].name, of_a, of_b,
                      a.updates()[p].l2, b.updates()[p].l2,
                      spread.l2 + rounded});
  }
}

Status Duel::Step(int64_t step, record::Record* record) {
  Status of_b;
  other_.Start([&] { of_b = StepOne(step, &b_); });
  const Status of_a = StepOne(step, &a_);
  other_.Wait();
  ASSAY_RETURN_IF_ERROR(of_a);
  ASSAY_RETURN_IF_ERROR(of_b);
  StepAcross(step);
  names_.step = step;
  names_.loss_a = a_loss();
  names_.loss_b = b_loss();
  std::vector<Pair> pairs;
  AddGradients(&pairs);
  AddUpdates(&pairs);
  for (const Pair& pair : pairs) {
    const optdiff::Distance apart =
        optdiff::DistanceOf(pair.a, draw::NumbersOf(pair.b));
    const bool is_within = apart.l2 <= pair.explained;
    if (!is_within && !difference_.has_value()) {
      difference_ = {step, pair.tensor, apart.l2, pair.explained};
    }
    if (record == nullptr) continue;
    optdiff::StepRow row = names_;
    row.tensor = pair.tensor;
    row.l2_diff = apart.l2;
    row.linf_diff = apart.linf;
    row.rel_l2 = apart.relative();
    row.max_ulp = apart.max_ulp;
    row.expected_growth = row.limit = pair.explained;
    row.oracle_l2_a = pair.oracle_a;
    row.oracle_l2_b = pair.oracle_b;
    if (difference_.has_value()) row.first_divergence = difference_->step;
    row.outcome = is_within ? "pass" : "fail";
    record->Add(row);
  }
  Lock();
  return OkStatus();
}

/// Sets the parameters of run a and the state of run b in run b's rule.
void Duel::LockAcross() {
  x_ = quad::InQuad(a_.run->lockstep().parameters());
  for (const auto& [p, tensor] : b_.run->lockstep().StateByParameter()) {
    QuadTensor* const slot = cross_->Slot(p, tensor.name);
    if (slot != nullptr) *slot = quad::InQuad(tensor.value);
  }
}

/// Sets both runs to the parameters, state and statistics of run a.
void Duel::Lock() {
  b_.run->Take(*a_.run);
  if (!is_one_rule_) LockAcross();
  other_.Start([this] { b_.run->Lock(); });
  a_.run->Lock();
  other_.Wait();
}

}  // namespace assay::bisect

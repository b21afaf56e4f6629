// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/duel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/testing/draw/draw.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/problem.h"
#include "framework/train/quad/quad_optimizers.h"

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

/// Copies the elements where both have the same type and shape.
void CopyInto(const Tensor& from, Tensor to) {
  if (from.dtype() != to.dtype() || from.shape() != to.shape()) return;
  std::ranges::copy(from.bytes(), to.mutable_data());
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
  for (const train::Parameter& parameter : course.narrow.parameters) {
    duel->x_.push_back(quad::InQuad(parameter.value));
  }
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
  std::vector<QuadTensor> gradients;
  for (const Tensor& gradient : a_.run->objective().got()) {
    gradients.push_back(quad::InQuad(gradient));
  }
  cross_->Prepare(at, &x_);
  cross_->Update(at, std::move(gradients), &x_);
}

void Duel::AddGradients(std::vector<Pair>* pairs) {
  const optdiff::BesideJudge& a = a_.run->objective();
  const optdiff::BesideJudge& b = b_.run->objective();
  for (size_t p = 0; p < a.gradients().size(); ++p) {
    const optdiff::Distance& of_a = a.gradients()[p];
    const optdiff::Distance& of_b = b.gradients()[p];
    pairs->push_back(
        {a.place()[p].name + ".gradient", a.got()[p], b.got()[p], of_a.l2,
         of_b.l2,
         a_.run->sieve() * of_a.explained + b_.run->sieve() * of_b.explained});
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
    const double rounded = 2 * optdiff::UpdateLimit(of_a.dtype()) *
                           std::sqrt(static_cast<double>(x_[p].size())) *
                           spread.greatest;
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
  return Lock();
}

/// Sets the parameters of run a and this state in run b's rule.
void Duel::LockAcross(std::span<const train::StateTensor> state) {
  const auto parameters = a_.run->lockstep().parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    x_[p] = quad::InQuad(parameters[p].value);
  }
  for (const train::StateTensor& tensor : state) {
    const auto owner = std::ranges::find(parameters, tensor.parameter,
                                         &train::Parameter::name);
    if (owner == parameters.end()) continue;
    QuadTensor* const slot = cross_->Slot(
        static_cast<size_t>(owner - parameters.begin()), tensor.name);
    if (slot != nullptr) *slot = quad::InQuad(tensor.value);
  }
}

/// Sets both runs to the parameters, state and statistics of run a.
Status Duel::Lock() {
  const auto parameters = a_.run->lockstep().parameters();
  for (size_t p = 0; p < parameters.size(); ++p) {
    CopyInto(parameters[p].value, b_.run->lockstep().parameters()[p].value);
  }
  const std::vector<train::StateTensor> state = b_.run->lockstep().State();
  for (const train::StateTensor& from : a_.run->lockstep().State()) {
    for (const train::StateTensor& to : state) {
      if (from.parameter == to.parameter && from.name == to.name) {
        CopyInto(from.value, to.value);
      }
    }
  }
  const auto statistics = b_.run->objective().Statistics();
  const auto of_a = a_.run->objective().Statistics();
  for (size_t s = 0; s < statistics.size() && s < of_a.size(); ++s) {
    CopyInto(of_a[s].value, statistics[s].value);
  }
  if (!is_one_rule_) LockAcross(state);
  other_.Start([this] { b_.run->Lock(); });
  a_.run->Lock();
  other_.Wait();
  return OkStatus();
}

}  // namespace assay::bisect

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/side.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/bisect/first_cause.h"
#include "framework/train/optdiff/judge_network.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/problem.h"

namespace assay::bisect {
namespace {

using file::ToText;

NamedState StateOf(quad::LockstepQuad& lockstep) {
  const auto parameters = lockstep.parameters();
  NamedState state(parameters.size());
  for (const train::StateTensor& tensor : lockstep.State()) {
    const auto owner = std::ranges::find(parameters, tensor.parameter,
                                         &train::Parameter::name);
    if (owner == parameters.end()) continue;
    state[static_cast<size_t>(owner - parameters.begin())].emplace_back(
        tensor.name, quad::InQuad(tensor.value));
  }
  return state;
}

Result<std::vector<train::Parameter>> Widened(
    std::span<const train::Parameter> narrow) {
  std::vector<train::Parameter> wide;
  for (const train::Parameter& each : narrow) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value,
                           draw::TensorOf(DType::kFloat64, each.value.shape(),
                                          draw::NumbersOf(each.value)));
    wide.push_back({each.name, std::move(value)});
  }
  return wide;
}

}  // namespace

Result<Side> Side::Begin(const char* name, BisectRun run,
                         const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto wide,
                         optdiff::Load(run.course.wide, options.oracle));
  const optdiff::JudgeOf judge{
      options.oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  Side side{name,        run.backend, run.course, run.setup.optimizer,
            run.between, nullptr};
  auto begun = optdiff::LockedRun::Begin(
      run.course, std::move(run.setup), run.backend, judge,
      draw::Draw(name, static_cast<int64_t>(options.seed), "roundings"));
  if (!begun.ok()) return begun.status().WithContext(StrCat("run ", name));
  side.run = *std::move(begun);
  return side;
}

Status Side::Step(int64_t step) {
  seen.optimizer = rule;
  seen.settings = lockstep().settings();
  seen.at = {.step = step, .schedule = lockstep().ScheduleAt(step)};
  seen.start.clear();
  for (const train::Parameter& parameter : lockstep().parameters()) {
    seen.start.push_back(quad::InQuad(parameter.value));
  }
  seen.state = StateOf(lockstep());
  optdiff::StepRows none({}, {}, nullptr);
  auto stepped = run->Step(step, &none);
  if (!stepped.ok()) {
    return stepped.status().WithContext(
        StrCat("run ", name, " at step ", step));
  }
  fault = *std::move(stepped);
  seen.gradients.clear();
  for (const Tensor& gradient : run->objective().got()) {
    seen.gradients.push_back(quad::InQuad(gradient));
  }
  seen.result.clear();
  for (const train::Parameter& parameter : lockstep().parameters()) {
    seen.type = parameter.value.dtype();
    seen.result.push_back(quad::InQuad(parameter.value));
  }
  seen.left = StateOf(lockstep());
  return OkStatus();
}

void Side::Take(const Side& other) {
  const auto of_a = other.lockstep().parameters();
  for (size_t p = 0; p < of_a.size(); ++p) {
    Tensor to = lockstep().parameters()[p].value;
    std::ranges::copy(of_a[p].value.bytes(), to.mutable_data());
  }
  for (const train::StateTensor& from : other.lockstep().State()) {
    for (train::StateTensor& to : lockstep().State()) {
      const bool is_same = from.parameter == to.parameter &&
                           from.name == to.name &&
                           from.value.Signature() == to.value.Signature();
      if (is_same) {
        std::ranges::copy(from.value.bytes(), to.value.mutable_data());
      }
    }
  }
  const auto statistics = run->objective().Statistics();
  const auto others = other.run->objective().Statistics();
  for (size_t s = 0; s < statistics.size(); ++s) {
    Tensor to = statistics[s].value;
    std::ranges::copy(others[s].value.bytes(), to.mutable_data());
  }
  other.run->Lock();
  run->Lock();
}

Result<Finding> WrongNode(const Side& side, int64_t step,
                          const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch,
                         side.course.batch(step));
  const optdiff::Place place = side.run->objective().PlaceOf(batch.narrow);
  ASSAY_ASSIGN_OR_RETURN(const auto wide, Widened(place.parameters));
  ASSAY_ASSIGN_OR_RETURN(const auto wide_given, Widened(place.given));
  auto fault = FirstCause(
      {side.course.narrow.model, side.backend},
      {side.course.wide.model, options.oracle}, place,
      {batch.wide, wide, wide_given, place.step},
      draw::Draw("cause", static_cast<int64_t>(options.seed), "roundings"));
  const std::string run = StrCat("run ", side.name);
  if (!fault.ok() || fault->op_type.empty()) {
    // A network that also gives inner values may compute right.
    const bool is_loss =
        side.fault.reason == std::string_view(optdiff::kFailLoss);
    return Say(is_loss ? Cause::kForward : Cause::kGradient, step, side.name,
               side.fault.tensor,
               StrCat("of ", run, " ", side.fault.what,
                      fault.ok() ? "" : "; its inner values are not given: ",
                      fault.ok() ? "" : fault.status().message()));
  }
  if (fault->is_noise) {
    return Say(Cause::kAccumulation, step, side.name, fault->op_type,
               StrCat("the ", fault->op_type, " of ", run, " keeps ",
                      std::lround(fault->digits), " binary digits",
                      fault->is_backward ? " backward" : "", ": of ",
                      fault->value, " ", fault->element));
  }
  return Say(fault->is_backward ? Cause::kGradient : Cause::kForward, step,
             side.name, fault->op_type,
             StrCat("the ", fault->op_type, " of ", run, " is wrong ",
                    fault->is_backward ? "backward: of the gradient by "
                                       : "forward: of ",
                    fault->value, " ", fault->element));
}

Result<Finding> WrongRule(Side* side, int64_t step) {
  constexpr int64_t kMore = 3;
  const std::string fault = side->fault.what;
  const std::string tensor = side->fault.tensor;
  std::vector<SeenStep> steps = {side->seen};
  for (int64_t i = 0; i < kMore; ++i) {
    side->run->Lock();
    const int64_t next = step + 1 + i;
    if (side->between) side->between(next, side->lockstep());
    ASSAY_RETURN_IF_ERROR(side->Step(next));
    steps.push_back(side->seen);
  }
  const std::string run = StrCat("run ", side->name);
  const auto slips = UsualSlips(side->rule, side->seen.settings);
  for (const Exchange& why : Explaining(steps, slips)) {
    return Say(Cause::kUpdateRule, step, side->name, why.name,
               StrCat("the step of ", run, " is that of ", why.name, "=",
                      why.to, ", and it says ", why.name, "=", why.from));
  }
  const auto with = [&](const auto& change) {
    std::vector<SeenStep> changed = steps;
    for (SeenStep& seen : changed) change(&seen.at);
    return Makes(changed, side->seen.settings);
  };
  for (const int64_t off : {-1, 1}) {
    if (!with([&](auto* at) { at->step += off; })) continue;
    return Say(Cause::kUpdateRule, step, side->name, "step",
               StrCat("the step of ", run, " counts as step ", step + off));
  }
  for (const double factor : {0.5, 2.0, 0.1, 10.0}) {
    if (!with([&](auto* at) { at->schedule *= factor; })) continue;
    return Say(Cause::kSchedule, step, side->name, "schedule",
               StrCat("the rate of ", run, " is ", ToText(factor),
                      " times what its schedule says"));
  }
  return Say(Cause::kUpdateRule, step, side->name, tensor,
             StrCat("of ", run, " ", fault));
}

}  // namespace assay::bisect

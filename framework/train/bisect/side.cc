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
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/quad.h"

namespace assay::bisect {
namespace {

using file::ToText;

NamedState StateOf(quad::LockstepQuad& lockstep) {
  NamedState state(lockstep.parameters().size());
  for (const auto& [p, tensor] : lockstep.StateByParameter()) {
    state[p].emplace_back(tensor.name, quad::InQuad(tensor.value));
  }
  return state;
}

}  // namespace

std::string_view ToString(Cause cause) {
  constexpr std::string_view kWords[] = {
      "none",        "initial weights", "data order",
      "forward",     "loss reduction",  "gradient",
      "update rule", "convention",      "schedule",
      "state",       "accumulation",    "running statistics"};
  return kWords[static_cast<size_t>(cause)];
}

Finding Say(Cause cause, int64_t step, const std::string& run,
            std::string where, const std::string& what) {
  return {cause, step, run, std::move(where),
          step == 0 ? what : StrCat("at step ", step, " ", what)};
}

Result<Side> Side::Begin(const char* name, BisectRun run,
                         const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                         optdiff::JudgeFor(run.course, options.oracle));
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
  const std::span<const train::Parameter> parameters = lockstep().parameters();
  seen.type = parameters.back().value.dtype();
  seen.start = quad::InQuad(parameters);
  seen.state = StateOf(lockstep());
  optdiff::StepRows none({}, {}, nullptr);
  auto stepped = run->Step(step, &none);
  if (!stepped.ok()) {
    return stepped.status().WithContext(
        StrCat("run ", name, " at step ", step));
  }
  fault = *std::move(stepped);
  seen.gradients = quad::InQuad(run->objective().got());
  seen.result = quad::InQuad(parameters);
  seen.left = StateOf(lockstep());
  return OkStatus();
}

void Side::Take(const Side& other) {
  run->Take(*other.run);
  other.run->Lock();
  run->Lock();
}

Result<Finding> WrongNode(const Side& side, int64_t step,
                          const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch,
                         side.course.batch(step));
  const optdiff::Place place = side.run->objective().PlaceOf(batch.narrow);
  ASSAY_ASSIGN_OR_RETURN(const auto wide, optdiff::Widened(place.parameters));
  ASSAY_ASSIGN_OR_RETURN(const auto wide_given, optdiff::Widened(place.given));
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

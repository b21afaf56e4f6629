// SPDX-License-Identifier: Apache-2.0

#include "conformance/diverge/bisect.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/diverge/convention.h"
#include "conformance/diverge/first_cause.h"
#include "conformance/optdiff/judge_network.h"
#include "conformance/optdiff/locked_run.h"
#include "conformance/optdiff/step_rows.h"
#include "conformance/optimizer/problem.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/draw/draw.h"

namespace assay::diverge {
namespace {

using file::ToText;
using optdiff::LockedRun;
using optimizer::QuadTensor;

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

/// The first element that differs, in words.
std::string FirstElement(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
    return StrCat("a has ", a.Signature(), ", b ", b.Signature());
  }
  const std::vector<double> of_a = draw::NumbersOf(a);
  const std::vector<double> of_b = draw::NumbersOf(b);
  const auto at = std::ranges::mismatch(of_a, of_b);
  if (at.in1 == of_a.end()) return "a zero has another sign";
  return StrCat("element ", at.in1 - of_a.begin(), " is ", ToText(*at.in1),
                " in a, ", ToText(*at.in2), " in b");
}

/// A run with its judge, and what it was before its last step.
struct Side {
  const char* name;
  Backend& backend;
  const optdiff::Course& course;
  std::string rule;
  std::function<void(int64_t, optimizer::BesideQuad&)> between;
  std::unique_ptr<LockedRun> run;
  SeenStep seen = {};
  optdiff::StepFault fault = {};

  optimizer::BesideQuad& both() const { return run->both(); }
};

Result<Side> BeginSide(const char* name, BisectRun run,
                       const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto wide,
                         optdiff::Load(run.course.wide, options.oracle));
  const optdiff::JudgeOf judge{
      options.oracle, std::make_shared<optdiff::JudgeNetwork>(std::move(wide))};
  Side side{name,        run.backend, run.course, run.trial.optimizer,
            run.between, nullptr};
  auto begun = LockedRun::Begin(
      run.course, std::move(run.trial), run.backend, judge,
      draw::Draw(name, static_cast<int64_t>(options.seed), "roundings"));
  if (!begun.ok()) return begun.status().WithContext(StrCat("run ", name));
  side.run = *std::move(begun);
  return side;
}

NamedState StateOf(optimizer::BesideQuad& both) {
  const auto parameters = both.parameters();
  NamedState state(parameters.size());
  for (const train::StateTensor& tensor : both.State()) {
    const auto owner = std::ranges::find(parameters, tensor.parameter,
                                         &train::Parameter::name);
    if (owner == parameters.end()) continue;
    state[static_cast<size_t>(owner - parameters.begin())].emplace_back(
        tensor.name, optimizer::InQuad(tensor.value));
  }
  return state;
}

class Bisection {
 public:
  Bisection(Side a, Side b, const BisectOptions& options)
      : a_(std::move(a)), b_(std::move(b)), options_(options) {}

  Result<Finding> Go() {
    if (auto found = InitialWeights(); found.has_value()) return *found;
    for (step_ = 1; step_ <= options_.steps; ++step_) {
      for (Side* const side : {&a_, &b_}) {
        if (auto found = ChangedBetween(side); found.has_value()) return *found;
      }
      ASSAY_ASSIGN_OR_RETURN(auto found, Data());
      if (found.has_value()) return *found;
      for (Side* const side : {&a_, &b_}) ASSAY_RETURN_IF_ERROR(Step(side));
      ASSAY_ASSIGN_OR_RETURN(found, Judged());
      if (found.has_value()) return *found;
      found = Apart();
      if (found.has_value()) return *found;
      Lock();
    }
    Finding none;
    none.sentence = StrCat("in ", options_.steps,
                           " steps the two differ by what roundings explain");
    return none;
  }

 private:
  using Found = std::optional<Finding>;

  Finding Say(Cause cause, const std::string& run, std::string where,
              const std::string& what) const {
    return {cause, step_, run, std::move(where),
            step_ == 0 ? what : StrCat("at step ", step_, " ", what)};
  }

  Found InitialWeights() {
    const auto of_a = a_.both().parameters();
    const auto of_b = b_.both().parameters();
    for (size_t p = 0; p < of_a.size(); ++p) {
      if (SameBytes(of_a[p].value, of_b[p].value)) continue;
      return Say(Cause::kInitialWeights, "", of_a[p].name,
                 StrCat("the two begin with other weights: of ", of_a[p].name,
                        " ", FirstElement(of_a[p].value, of_b[p].value)));
    }
    return std::nullopt;
  }

  /// State or parameters that are no longer those that the last step left.
  Found ChangedBetween(Side* side) {
    if (side->between) side->between(step_, side->both());
    if (step_ == 1) return std::nullopt;
    for (const optimizer::Apart& apart : side->both().Compare()) {
      if (apart.linf == 0) continue;
      return Say(
          Cause::kState, side->name, apart.name(),
          StrCat("run ", side->name, " begins with another ", apart.name(),
                 " than its last step left, off by ", ToText(apart.linf)));
    }
    return std::nullopt;
  }

  Result<Found> Data() {
    ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch of_a,
                           a_.course.batch(step_));
    ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch of_b,
                           b_.course.batch(step_));
    for (size_t i = 0; i < of_a.narrow.size(); ++i) {
      if (i >= of_b.narrow.size() ||
          !SameBytes(of_a.narrow[i], of_b.narrow[i])) {
        return Found(Say(Cause::kDataOrder, "", "batch",
                         "the two are given other samples"));
      }
    }
    return Found();
  }

  Status Step(Side* side) {
    side->seen.optimizer = side->rule;
    side->seen.settings = side->both().settings();
    side->seen.at = {.step = step_, .schedule = side->both().ScheduleAt(step_)};
    side->seen.start.clear();
    for (const train::Parameter& parameter : side->both().parameters()) {
      side->seen.start.push_back(optimizer::InQuad(parameter.value));
    }
    side->seen.state = StateOf(side->both());
    optdiff::StepRows none({}, {}, nullptr);
    auto fault = side->run->Step(step_, &none);
    if (!fault.ok()) {
      return fault.status().WithContext(
          StrCat("run ", side->name, " at step ", step_));
    }
    side->fault = *std::move(fault);
    side->seen.gradients.clear();
    for (const Tensor& gradient : side->run->objective().got()) {
      side->seen.gradients.push_back(optimizer::InQuad(gradient));
    }
    side->seen.result.clear();
    for (const train::Parameter& parameter : side->both().parameters()) {
      side->seen.type = parameter.value.dtype();
      side->seen.result.push_back(optimizer::InQuad(parameter.value));
    }
    side->seen.left = StateOf(side->both());
    return OkStatus();
  }

  /// What a run does that is not what it says.
  Result<Found> Judged() {
    for (Side* const side : {&a_, &b_}) {
      const optdiff::StepFault& fault = side->fault;
      if (fault.what.empty()) continue;
      if (fault.reason == std::string_view(optdiff::kFailUpdate)) {
        ASSAY_ASSIGN_OR_RETURN(Finding rule, WrongRule(side));
        return Found(std::move(rule));
      }
      ASSAY_ASSIGN_OR_RETURN(Finding found, WrongNode(*side));
      return Found(std::move(found));
    }
    return Found();
  }

  Result<Finding> WrongNode(const Side& side) {
    ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch,
                           side.course.batch(step_));
    const auto& place = side.run->objective().place();
    std::vector<train::Parameter> wide;
    for (const train::Parameter& parameter : place) {
      ASSAY_ASSIGN_OR_RETURN(
          Tensor value, draw::TensorOf(DType::kFloat64, parameter.value.shape(),
                                       draw::NumbersOf(parameter.value)));
      wide.push_back({parameter.name, std::move(value)});
    }
    auto fault = FirstCause(
        {side.course.narrow.model, side.backend},
        {side.course.wide.model, options_.oracle}, {batch.narrow, place},
        {batch.wide, wide},
        draw::Draw("cause", static_cast<int64_t>(options_.seed), "roundings"));
    const std::string run = StrCat("run ", side.name);
    if (!fault.ok() || fault->op_type.empty()) {
      // A network that is asked for more may do it right.
      const bool is_loss =
          side.fault.reason == std::string_view(optdiff::kFailLoss);
      return Say(is_loss ? Cause::kForward : Cause::kGradient, side.name,
                 side.fault.tensor,
                 StrCat("of ", run, " ", side.fault.what,
                        fault.ok() ? "" : "; its inner values are not given: ",
                        fault.ok() ? "" : fault.status().message()));
    }
    if (fault->is_noise) {
      return Say(Cause::kAccumulation, side.name, fault->op_type,
                 StrCat("the ", fault->op_type, " of ", run, " keeps ",
                        std::lround(fault->digits), " binary digits",
                        fault->is_backward ? " backward" : "", ": of ",
                        fault->value, " ", fault->element));
    }
    return Say(fault->is_backward ? Cause::kGradient : Cause::kForward,
               side.name, fault->op_type,
               StrCat("the ", fault->op_type, " of ", run, " is wrong ",
                      fault->is_backward ? "backward: of the gradient by "
                                         : "forward: of ",
                      fault->value, " ", fault->element));
  }

  /// Some more steps tell apart what may have been meant.
  Result<Finding> WrongRule(Side* side) {
    constexpr int64_t kMore = 3;
    const int64_t found_at = step_;
    const std::string fault = side->fault.what;
    const std::string tensor = side->fault.tensor;
    std::vector<SeenStep> steps = {side->seen};
    for (int64_t i = 0; i < kMore; ++i) {
      side->run->Lock();
      ++step_;
      if (side->between) side->between(step_, side->both());
      ASSAY_RETURN_IF_ERROR(Step(side));
      steps.push_back(side->seen);
    }
    step_ = found_at;
    const std::string run = StrCat("run ", side->name);
    const auto slips = UsualSlips(side->rule, side->seen.settings);
    for (const Exchange& why : Explaining(steps, slips)) {
      return Say(Cause::kUpdateRule, side->name, why.name,
                 StrCat("the step of ", run, " is that of ", why.name, "=",
                        why.to, ", and it says ", why.name, "=", why.from));
    }
    const auto with = [&](const auto& change) {
      std::vector<SeenStep> changed = steps;
      for (SeenStep& step : changed) change(&step.at);
      return Makes(changed, side->seen.settings);
    };
    for (const int64_t off : {-1, 1}) {
      if (!with([&](auto* at) { at->step += off; })) continue;
      return Say(Cause::kUpdateRule, side->name, "step",
                 StrCat("the step of ", run, " counts as step ", step_ + off));
    }
    for (const double factor : {0.5, 2.0, 0.1, 10.0}) {
      if (!with([&](auto* at) { at->schedule *= factor; })) continue;
      return Say(Cause::kSchedule, side->name, "schedule",
                 StrCat("the rate of ", run, " is ", ToText(factor),
                        " times what its schedule says"));
    }
    return Say(Cause::kUpdateRule, side->name, tensor,
               StrCat("of ", run, " ", fault));
  }

  /// Where both do what they say, and it is not the same.
  Found Apart() {
    const optdiff::BesideJudge& of_a = a_.run->objective();
    const optdiff::BesideJudge& of_b = b_.run->objective();
    const double explained =
        optdiff::kSieve * (of_a.loss().explained + of_b.loss().explained);
    if (!(std::abs(of_a.backend_loss() - of_b.backend_loss()) <= explained)) {
      return Say(Cause::kLossReduction, "", "loss",
                 StrCat("the two have other losses, each right by its own "
                        "model: that of b is ",
                        ToText(of_b.backend_loss() / of_a.backend_loss()),
                        " times that of a"));
    }
    SeenStep across = b_.seen;
    across.gradients = a_.seen.gradients;
    across.result = a_.seen.result;
    across.left = a_.seen.left;
    if (Makes({&across, 1}, across.settings)) return std::nullopt;
    if (a_.rule != b_.rule) {
      return Say(Cause::kConvention, "", "optimizer",
                 StrCat("the two have other optimizers: a ", a_.rule, ", b ",
                        b_.rule));
    }
    if (a_.seen.at.schedule != b_.seen.at.schedule) {
      SeenStep as_a = across;
      as_a.at.schedule = a_.seen.at.schedule;
      if (Makes({&as_a, 1}, as_a.settings)) {
        return Say(Cause::kSchedule, "", "schedule",
                   StrCat("the two have other schedules: a's factor is ",
                          ToText(a_.seen.at.schedule), ", b's ",
                          ToText(b_.seen.at.schedule)));
      }
    }
    return OtherSettings(across);
  }

  Found OtherSettings(const SeenStep& across) const {
    std::vector<Exchange> differing;
    for (const auto& [name, text] : across.settings) {
      const auto of_a = std::ranges::find(
          a_.seen.settings, name, &std::pair<std::string, std::string>::first);
      if (of_a == a_.seen.settings.end() || of_a->second == text) continue;
      differing.push_back({name, text, of_a->second});
    }
    const std::vector<Exchange> why = Explaining({&across, 1}, differing);
    const auto& shown = why.empty() ? differing : why;
    const std::string text =
        Joined(shown, " and ", [](const Exchange& exchange) {
          return StrCat(exchange.name, "=", exchange.to, " in a, ",
                        exchange.from, " in b");
        });
    if (shown.empty()) {
      return Say(Cause::kState, "", "state",
                 "the two step from other state, their settings are the same");
    }
    return Say(Cause::kConvention, "", shown[0].name,
               StrCat("the two follow other conventions: ", text));
  }

  /// Both, and their judges, go on from where run a is.
  void Lock() {
    const auto of_a = a_.both().parameters();
    for (size_t p = 0; p < of_a.size(); ++p) {
      Tensor to = b_.both().parameters()[p].value;
      std::ranges::copy(of_a[p].value.bytes(), to.mutable_data());
    }
    for (const train::StateTensor& from : a_.both().State()) {
      for (train::StateTensor& to : b_.both().State()) {
        const bool is_same = from.parameter == to.parameter &&
                             from.name == to.name &&
                             from.value.Signature() == to.value.Signature();
        if (is_same) {
          std::ranges::copy(from.value.bytes(), to.value.mutable_data());
        }
      }
    }
    a_.run->Lock();
    b_.run->Lock();
  }

  Side a_, b_;
  const BisectOptions& options_;
  int64_t step_ = 0;
};

}  // namespace

std::string_view ToString(Cause cause) {
  constexpr std::string_view kWords[] = {
      "none",           "initial weights", "data order",  "forward",
      "loss reduction", "gradient",        "update rule", "convention",
      "schedule",       "state",           "accumulation"};
  return kWords[static_cast<size_t>(cause)];
}

Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Side side_a, BeginSide("a", std::move(a), options));
  ASSAY_ASSIGN_OR_RETURN(Side side_b, BeginSide("b", std::move(b), options));
  if (side_a.both().parameters().size() != side_b.both().parameters().size()) {
    return InvalidArgument(
        "found networks of ", side_a.both().parameters().size(), " and ",
        side_b.both().parameters().size(), " parameters, wanted the same");
  }
  return Bisection(std::move(side_a), std::move(side_b), options).Go();
}

}  // namespace assay::diverge

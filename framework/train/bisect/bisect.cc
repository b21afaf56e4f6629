// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/bisect.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/bisect/convention.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/locked_run.h"

namespace assay::bisect {
namespace {

using file::ToText;

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::ranges::equal(a.bytes(), b.bytes());
}

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

using Found = std::optional<Finding>;

/// "; undecided in run a: w.gradient at 2 steps"; empty where all is decided.
std::string UndecidedOf(const Side& side) {
  const optdiff::Undecided& undecided = side.run->undecided();
  if (undecided.empty()) return "";
  return StrCat("; undecided in run ", side.name, ": ",
                optdiff::UndecidedText(undecided));
}

/// Says that the oracle does not know which of two is right, and how far the
/// judge is from each.
std::string NoWord(double of_a, double of_b) {
  return StrCat("; the oracle decides for neither: a is ", ToText(of_a),
                " away from the judge, b ", ToText(of_b));
}

/// Says that a statistic was fed back wrongly. `run` names the run that did; it
/// is empty where each run does what its own model says and b differs from a.
Finding SayFedBack(const Side& side, const std::string& run, int64_t step,
                   const std::string& statistic, const FedNumbers& fed) {
  const Feeder feeder = FeederOf(side.course.narrow.model->graph(), statistic);
  const auto off = [&](size_t at) {
    return std::abs(fed.got[at] - fed.wanted[at]);
  };
  size_t worst = 0;
  for (size_t i = 0; i < fed.got.size(); ++i) {
    if (!(off(i) <= off(worst))) worst = i;
  }
  return Say(
      Cause::kRunningStatistics, step, run, feeder.value,
      StrCat("the statistic ", statistic, " of the ", feeder.op_type, " of '",
             feeder.value, "' in run ", run.empty() ? "b" : run, " ",
             SlipOf(fed, feeder), ": element ", worst, " is ",
             ToText(fed.got[worst]), ", ", run.empty() ? "in a " : "wanted ",
             ToText(fed.wanted[worst])));
}

Finding WrongStatistic(const Side& side, int64_t step) {
  const auto all = side.run->objective().statistics();
  const auto fed = std::ranges::find(all, side.fault.tensor,
                                     &optdiff::BesideJudge::FedBack::name);
  return SayFedBack(side, side.name, step, fed->name,
                    {fed->before, fed->got, fed->wanted});
}

/// Finds a statistic that differs although each run does what its model says.
Found OtherStatistics(const Side& a, const Side& b, int64_t step) {
  const auto of_a = a.run->objective().statistics();
  const auto of_b = b.run->objective().statistics();
  for (size_t s = 0; s < of_a.size(); ++s) {
    const double explained = optdiff::kSieve * (of_a[s].distance.explained +
                                                of_b[s].distance.explained);
    if (optdiff::L2(of_a[s].got, of_b[s].got) <= explained) continue;
    return SayFedBack(a, "", step, of_a[s].name,
                      {of_a[s].before, of_b[s].got, of_a[s].got});
  }
  return std::nullopt;
}

Found InitialStatistics(const Side& a, const Side& b) {
  const auto of_a = a.run->objective().Statistics();
  const auto of_b = b.run->objective().Statistics();
  for (size_t s = 0; s < of_a.size(); ++s) {
    if (SameBytes(of_a[s].value, of_b[s].value)) continue;
    const std::string& name = of_a[s].parameter;
    return Say(Cause::kRunningStatistics, 0, "",
               FeederOf(a.course.narrow.model->graph(), name).value,
               StrCat("the two begin with other statistics: of ", name, " ",
                      FirstElement(of_a[s].value, of_b[s].value)));
  }
  return std::nullopt;
}

/// Finds the settings that explain a wrong update; the side takes more steps
/// for it.
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

class Bisection {
 public:
  Bisection(Side a, Side b, const BisectOptions& options)
      : a_(std::move(a)), b_(std::move(b)), options_(options) {}

  Result<Finding> Go() {
    if (auto found = InitialWeights(); found.has_value()) return *found;
    if (auto found = InitialStatistics(a_, b_); found.has_value())
      return *found;
    for (step_ = 1; step_ <= options_.steps; ++step_) {
      for (Side* const side : {&a_, &b_}) {
        if (auto found = ChangedBetween(side); found.has_value()) return *found;
      }
      ASSAY_ASSIGN_OR_RETURN(auto found, Data());
      if (found.has_value()) return *found;
      for (Side* const side : {&a_, &b_})
        ASSAY_RETURN_IF_ERROR(side->Step(step_));
      ASSAY_ASSIGN_OR_RETURN(found, Judged());
      if (found.has_value()) return *found;
      found = Apart();
      if (found.has_value()) return *found;
      b_.Take(a_);
    }
    Finding none;
    none.sentence = StrCat("in ", options_.steps,
                           " steps the two differ by what roundings explain",
                           UndecidedOf(a_), UndecidedOf(b_));
    return none;
  }

 private:
  Found InitialWeights() {
    const auto of_a = a_.lockstep().parameters();
    const auto of_b = b_.lockstep().parameters();
    for (size_t p = 0; p < of_a.size(); ++p) {
      if (SameBytes(of_a[p].value, of_b[p].value)) continue;
      return Say(Cause::kInitialWeights, step_, "", of_a[p].name,
                 StrCat("the two begin with other weights: of ", of_a[p].name,
                        " ", FirstElement(of_a[p].value, of_b[p].value)));
    }
    return std::nullopt;
  }

  /// Finds state or parameters that changed between two steps.
  Found ChangedBetween(Side* side) {
    if (side->between) side->between(step_, side->lockstep());
    if (step_ == 1) return std::nullopt;
    for (const quad::TensorDifference& difference :
         side->lockstep().Compare()) {
      if (difference.linf == 0) continue;
      return Say(
          Cause::kState, step_, side->name, difference.name(),
          StrCat("run ", side->name, " begins with another ", difference.name(),
                 " than its last step left, off by ", ToText(difference.linf)));
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
        return Found(Say(Cause::kDataOrder, step_, "", "batch",
                         "the two are given other samples"));
      }
    }
    return Found();
  }

  /// Finds what one run does wrong by its own model and settings.
  Result<Found> Judged() {
    for (Side* const side : {&a_, &b_}) {
      const optdiff::StepFault& fault = side->fault;
      if (fault.what.empty()) continue;
      if (fault.reason == std::string_view(optdiff::kFailStatistic)) {
        return Found(WrongStatistic(*side, step_));
      }
      if (fault.reason == std::string_view(optdiff::kFailUpdate)) {
        ASSAY_ASSIGN_OR_RETURN(Finding rule, WrongRule(side, step_));
        return Found(std::move(rule));
      }
      ASSAY_ASSIGN_OR_RETURN(Finding found, WrongNode(*side, step_, options_));
      return Found(std::move(found));
    }
    return Found();
  }

  /// Finds where the two differ although each does what it says.
  Found Apart() {
    const optdiff::BesideJudge& of_a = a_.run->objective();
    const optdiff::BesideJudge& of_b = b_.run->objective();
    const double explained = a_.run->LossLimit() + b_.run->LossLimit();
    if (!(std::abs(of_a.backend_loss() - of_b.backend_loss()) <= explained)) {
      const bool is_decided = a_.run->undecided().count("loss") +
                                  b_.run->undecided().count("loss") ==
                              0;
      return Say(
          Cause::kLossReduction, step_, "", "loss",
          StrCat("the two have other losses",
                 is_decided ? ", each right by its own model" : "",
                 ": that of b is ",
                 ToText(of_b.backend_loss() / of_a.backend_loss()),
                 " times that of a",
                 is_decided ? "" : NoWord(of_a.loss().l2, of_b.loss().l2)));
    }
    if (auto found = OtherGradient(); found.has_value()) return found;
    if (auto found = OtherStatistics(a_, b_, step_); found.has_value())
      return found;
    SeenStep across = b_.seen;
    across.gradients = a_.seen.gradients;
    across.result = a_.seen.result;
    across.left = a_.seen.left;
    if (Makes({&across, 1}, across.settings)) return std::nullopt;
    if (a_.rule != b_.rule) {
      return Say(Cause::kConvention, step_, "", "optimizer",
                 StrCat("the two have other optimizers: a ", a_.rule, ", b ",
                        b_.rule));
    }
    if (a_.seen.at.schedule != b_.seen.at.schedule) {
      SeenStep as_a = across;
      as_a.at.schedule = a_.seen.at.schedule;
      if (Makes({&as_a, 1}, as_a.settings)) {
        return Say(Cause::kSchedule, step_, "", "schedule",
                   StrCat("the two have other schedules: a's factor is ",
                          ToText(a_.seen.at.schedule), ", b's ",
                          ToText(b_.seen.at.schedule)));
      }
    }
    return OtherSettings(across);
  }

  /// Finds a gradient in which the two differ though the oracle decides for
  /// neither.
  Found OtherGradient() const {
    const optdiff::BesideJudge& of_a = a_.run->objective();
    const optdiff::BesideJudge& of_b = b_.run->objective();
    for (size_t p = 0; p < of_a.got().size(); ++p) {
      const double explained =
          a_.run->GradientLimit(p) + b_.run->GradientLimit(p);
      const double apart = optdiff::L2(draw::NumbersOf(of_a.got()[p]),
                                       draw::NumbersOf(of_b.got()[p]));
      if (apart <= explained) continue;
      const std::string& name = of_a.place()[p].name;
      return Say(
          Cause::kGradient, step_, "", name,
          StrCat("the gradients of ", name, " differ by ", ToText(apart),
                 ", where roundings explain ", ToText(explained),
                 NoWord(of_a.gradients()[p].l2, of_b.gradients()[p].l2)));
    }
    return std::nullopt;
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
      return Say(Cause::kState, step_, "", "state",
                 "the two step from other state, their settings are the same");
    }
    return Say(Cause::kConvention, step_, "", shown[0].name,
               StrCat("the two follow other conventions: ", text));
  }

  Side a_, b_;
  const BisectOptions& options_;
  int64_t step_ = 0;
};

}  // namespace

Result<Finding> Bisect(BisectRun a, BisectRun b, const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Side side_a, Side::Begin("a", std::move(a), options));
  ASSAY_ASSIGN_OR_RETURN(Side side_b, Side::Begin("b", std::move(b), options));
  if (side_a.lockstep().parameters().size() !=
      side_b.lockstep().parameters().size()) {
    return InvalidArgument(
        "found networks of ", side_a.lockstep().parameters().size(), " and ",
        side_b.lockstep().parameters().size(), " parameters, wanted the same");
  }
  const auto statistics_a = side_a.run->objective().Statistics();
  const auto statistics_b = side_b.run->objective().Statistics();
  if (!std::ranges::equal(statistics_a, statistics_b, {},
                          &train::StateTensor::parameter,
                          &train::StateTensor::parameter)) {
    return InvalidArgument("found networks of ", statistics_a.size(), " and ",
                           statistics_b.size(),
                           " running statistics, wanted the same");
  }
  return Bisection(std::move(side_a), std::move(side_b), options).Go();
}

}  // namespace assay::bisect

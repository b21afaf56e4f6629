// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/judge.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "framework/file/csv.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/limit/fault.h"
#include "framework/testing/limit/limit.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/answer/questions.h"
#include "gradcheck/case/derive.h"
#include "gradcheck/case/subject.h"
#include "gradcheck/judge/differences.h"
#include "gradcheck/judge/drawn_mask.h"
#include "gradcheck/judge/found_row.h"
#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/judge/stated.h"
#include "gradcheck/judge/verdict.h"
#include "gradcheck/run/compare.h"
#include "gradcheck/run/trial.h"
#include "gradcheck/structure/jacobian.h"
#include "gradcheck/structure/structure.h"

namespace assay::gradcheck {
namespace {

using file::ToText;
using record::Outcome;

/// One case on one backend, rung by rung.
class Ladderer {
 public:
  Ladderer(const GradientCase& c, const suite::Subject& subject,
           const GradientAnswers& answers, Trial& trial, record::Record& record)
      : case_(c),
        row_(c.row),
        variant_(c.variant),
        accumulator_(trial.Accumulator(c)),
        subject_(subject),
        answers_(answers),
        trial_(trial),
        record_(record) {}

  measure::Judgement Judge() {
    // Of others first, so that what keeps anything of it is seen by all checks.
    for (const auto forward : {&Trial::ForwardOfOthers, &Trial::ForwardOfOwn}) {
      if (const Status ran = (trial_.*forward)(); !ran.ok()) {
        return StoppedRunning(ran, "Forward");
      }
    }
    forward_us_ = trial_.forward_us() / trial_.n_forward();
    if (auto verdict = Outputs(); verdict.has_value()) return Finish(*verdict);
    Stop verdict = Elements();
    if (!verdict.has_value()) verdict = Adjoint();
    if (trial_.IsInDouble() && !gradients_.empty()) {
      OwnDifferences(verdict);
    }
    if (!verdict.has_value()) verdict = Structural();
    if (!verdict.has_value() && variant_.input_class == InputClass::kJacobian) {
      verdict = Jacobian();
    }
    return Finish(verdict.has_value() ? *std::move(verdict) : Passed());
  }

 private:
  using Stop = std::optional<measure::Judgement>;

  Stop Outputs();
  Stop Elements();
  Stop OneCotangent(size_t kind, host::Pulled pulled);
  Stop AsStated(std::span<const Value> gradients,
                std::span<const measure::ExactAnswer> answers) const;
  Stop Adjoint();
  void OwnDifferences(Stop& verdict);
  Stop Structural();
  Stop Jacobian();
  measure::Judgement Passed() const;
  measure::Judgement Finish(measure::Judgement verdict);

  Result<std::vector<Value>> Directions(Cotangent kind) const;
  Result<std::vector<Value>> Tangents() const;
  Known Along(std::span<const Value> dx) const;
  void AddRow(size_t kind, size_t target, const Compared& found,
              int64_t backward_us);
  Stop Refused(size_t kind, size_t target, const Compared& found) const;
  std::string Describe(size_t kind, size_t target, const Compared& found) const;

  const GradientCase& case_;
  const record::PlanRow& row_;
  const Variant variant_;
  DType accumulator_;
  const suite::Subject& subject_;
  const GradientAnswers& answers_;
  Trial& trial_;
  record::Record& record_;
  std::vector<GradientRow> rows_;
  std::vector<Value> gradients_;    // for the first cotangents
  std::vector<Compared> compared_;  // of them
  int64_t forward_us_ = 0;
  int64_t judged_ = 0;   // elements
  int64_t telling_ = 0;  // of these, what is not zero whatever is done
  int64_t non_zero_ = 0, kinks_ = 0, non_finite_ = 0;
};

/// The limits of conformance, or those of the oracle's units where these are wider.
Ladderer::Stop Ladderer::Outputs() {
  for (size_t i = 0; i < answers_.outputs.size(); ++i) {
    const Tensor* const y = trial_.outputs()[i].tensor();
    const measure::ExactAnswer& want = answers_.outputs[i];
    if (y == nullptr || !Carries(y->dtype()) || !want.bound.defined()) continue;
    const std::string fault = limit::FaultOf(
        *y, want,
        {variant_.type, row_.rtol.value_or(0), row_.atol.value_or(0)});
    if (fault.empty()) continue;
    return Verdict(
        Outcome::kFail, kFailForward,
        StrCat("output ", i, " of the network loaded for gradients: ", fault));
  }
  return std::nullopt;
}

Result<std::vector<Value>> Ladderer::Directions(Cotangent kind) const {
  return trial_.Directions(kind, case_);
}

Result<std::vector<Value>> Ladderer::Tangents() const {
  std::vector<Shape> shapes;
  for (const Value& gradient : gradients_) {
    shapes.push_back(gradient.tensor()->shape());
  }
  return TangentsOf(shapes, case_.Drawn("tangents"));
}

Ladderer::Stop Ladderer::Elements() {
  std::vector<std::vector<Value>> cotangents;
  std::vector<host::BackwardAsk> asks;
  cotangents.reserve(kCotangents.size());
  for (const Cotangent kind : kCotangents) {
    auto dy = Directions(kind);
    if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
    cotangents.push_back(*std::move(dy));
    asks.push_back({cotangents.back(), trial_.targets()});
  }
  std::vector<host::Pulled> pulled = trial_.BackwardEach(asks);
  for (size_t kind = 0; kind < pulled.size(); ++kind) {
    Stop stop = OneCotangent(kind, std::move(pulled[kind]));
    if (stop.has_value()) return stop;
  }
  return std::nullopt;
}

Ladderer::Stop Ladderer::OneCotangent(size_t kind, host::Pulled pulled) {
  Result<std::vector<Value>>& gradients = pulled.gradients;
  if (!gradients.ok()) return StoppedRunning(gradients.status(), "Backward");
  const int64_t took =
      std::chrono::duration_cast<std::chrono::microseconds>(pulled.took)
          .count();
  const auto& answers = answers_.gradients[kind];
  if (answers.size() != gradients->size()) {
    return Verdict(Outcome::kError, kFailOracle,
                   StrCat("the oracle has ", answers.size(), " gradients for ",
                          gradients->size(), " targets"));
  }
  Stop stop;
  Known sum;
  std::vector<Compared> compared;
  for (size_t t = 0; t < gradients->size(); ++t) {
    const bool has_zeros = kCotangents[kind] == Cotangent::kOneHot;
    const Compared found = Compare(
        *(*gradients)[t].tensor(), answers[t],
        {variant_.type, variant_.input_class == InputClass::kExact,
         has_zeros ? &answers_.gradients[0][t] : nullptr, accumulator_});
    AddRow(kind, t, found, took);
    if (!stop.has_value()) stop = Refused(kind, t, found);
    sum.value += found.sum;
    // Of a sum with an element that is not known, nothing is.
    sum.bound += found.unknown > 0 ? std::numeric_limits<double>::infinity()
                                   : found.sum_limit;
    judged_ += found.count - found.unknown;
    non_zero_ += found.count - found.zeros;
    telling_ += found.telling;
    kinks_ += found.kinks;
    non_finite_ += found.non_finite;
    compared.push_back(found);
  }
  if (!stop.has_value() && kind < answers_.mass.size()) {
    const Known& mass = answers_.mass[kind];
    const double slack = mass.bound + 2 * sum.bound;
    // A sum that is no number says nothing of its elements.
    const double off = std::abs(sum.value - mass.value);
    if (std::isfinite(slack) && std::isfinite(off) && off > slack) {
      stop =
          Verdict(Outcome::kFail, kFailBackward,
                  StrCat("at its kinks the gradient is not conserved: for ",
                         ToString(kCotangents[kind]), " its elements add to ",
                         ToText(sum.value), ", wanted ", ToText(mass.value),
                         " within ", ToText(slack)));
    }
  }
  if (!stop.has_value() && kCotangents[kind] == Cotangent::kOnes &&
      variant_.input_class == InputClass::kOfficial) {
    stop = AsStated(*gradients, answers);
  }
  if (kind == 0) {
    gradients_ = *std::move(gradients);
    compared_ = std::move(compared);
  }
  return stop;
}

/// The case's own answers, from a formula: the oracle is held to them, too.
Ladderer::Stop Ladderer::AsStated(
    std::span<const Value> gradients,
    std::span<const measure::ExactAnswer> answers) const {
  const auto stated = cases::ReadStated(row_.directory, answers_.outputs.size(),
                                        subject_.targets);
  if (!stated.ok())
    return StoppedRunning(stated.status(), "the stated answers");
  const auto values = [](std::span<const measure::ExactAnswer> exact) {
    std::vector<Value> held;
    for (const measure::ExactAnswer& answer : exact) {
      held.push_back(answer.value);
    }
    return held;
  };
  std::string fault = FaultOfStated(*stated, subject_.targets,
                                    values(answers_.outputs), values(answers));
  if (!fault.empty()) {
    return Verdict(Outcome::kError, kFailOracle,
                   StrCat("by the oracle ", fault));
  }
  fault = FaultOfStated(*stated, subject_.targets, trial_.outputs(), gradients);
  if (fault.empty()) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward, fault);
}

std::string Ladderer::Describe(size_t kind, size_t target,
                               const Compared& found) const {
  const std::string head = StrCat("the gradient of '", subject_.targets[target],
                                  "' for ", ToString(kCotangents[kind]), ": ");
  if (!found.mismatch.empty()) return head + found.mismatch;
  return StrCat(head, found.beyond, " of ", found.count,
                " elements are beyond their limit; ",
                InWords(found.worst, variant_.type));
}

Ladderer::Stop Ladderer::Refused(size_t kind, size_t target,
                                 const Compared& found) const {
  if (!found.mismatch.empty() || found.beyond > 0) {
    return Verdict(Outcome::kFail, kFailBackward,
                   Describe(kind, target, found));
  }
  if (found.refused == 0) return std::nullopt;
  return Verdict(
      Outcome::kError, kFailOracle,
      StrCat("the gradient of '", subject_.targets[target], "' for ",
             ToString(kCotangents[kind]), ": the oracle's bound is ",
             ToText(found.greatest_bound), " of the limit at most, wanted ",
             ToText(limit::kEnoughOfLimit)));
}

/// The gradient along signs, and how far off it may be.
Known Ladderer::Along(std::span<const Value> dx) const {
  Known along;
  for (size_t t = 0; t < gradients_.size(); ++t) {
    const std::vector<double> g = NumbersOf(*gradients_[t].tensor());
    const auto signs = dx[t].tensor()->elements<double>();
    for (size_t i = 0; i < g.size(); ++i) {
      along.value += g[i] * signs[i];
      along.bound += compared_[t].limits[i];
    }
  }
  return along;
}

/// The gradient along signs against the exact tangent, a pass that shares no
/// step with the reverse one.
Ladderer::Stop Ladderer::Adjoint() {
  const auto dx = Tangents();
  if (!dx.ok()) return StoppedRunning(dx.status(), "the tangents");
  const Known along = Along(*dx);
  const Known& exact = answers_.ladder.tangent;
  const double slack = along.bound + exact.bound;
  const double error = std::abs(along.value - exact.value);
  if (!std::isfinite(slack) || !std::isfinite(error)) return std::nullopt;
  for (GradientRow& row : rows_) {
    if (row.cotangent != ToString(Cotangent::kFirst)) continue;
    row.adjoint_err = error;
    row.adjoint_bound = slack;
  }
  if (error <= slack) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward,
                 StrCat("along signs the gradient is ", ToText(along.value),
                        ", the exact tangent is ", ToText(exact.value),
                        " within ", ToText(slack)));
}

/// The gradient along signs against differences of the backend's own outputs.
/// Where these agree and the gradient is wrong, the forward is.
void Ladderer::OwnDifferences(Stop& verdict) {
  const auto dy = Directions(Cotangent::kFirst);
  const auto dx = Tangents();
  if (!dy.ok() || !dx.ok()) return;
  const auto found = DifferencesOf(trial_, *dy, *dx);
  if (!found.ok()) {
    if (!verdict.has_value()) {
      verdict = StoppedRunning(found.status(), "Forward");
    }
    return;
  }
  const Known along = Along(*dx);
  const Slope& slope = found->slope;
  const double slack = along.bound + slope.bound;
  const double error = std::abs(along.value - slope.value);
  for (GradientRow& row : rows_) {
    if (row.cotangent != ToString(Cotangent::kFirst)) continue;
    row.dir_err = error;
    row.dir_bound = slack;
    row.h_min = found->h_min;
    row.h_max = found->h_max;
  }
  Known exact = answers_.ladder.tangent;
  // One of several at a kink, where differences have the mean of two of them.
  if (kinks_ > 0) exact.bound = std::numeric_limits<double>::infinity();
  if (!verdict.has_value() || verdict->outcome != Outcome::kFail) return;
  if (ShowsAnotherForward(slope, along.value, exact)) {
    *verdict = Verdict(
        Outcome::kFail, kFailForward,
        StrCat("the gradient is that of the forward, along signs ",
               ToText(along.value), ", which differs from the exact one, ",
               ToText(exact.value), "; ", verdict->message));
  }
}

Ladderer::Stop Ladderer::Structural() {
  const auto dy = Directions(Cotangent::kFirst);
  if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
  const auto found =
      StructureOf(trial_, {trial_.targets(), *dy, gradients_, compared_});
  if (!found.ok()) return StoppedRunning(found.status(), "Backward");
  for (GradientRow& row : rows_) {
    if (row.cotangent != ToString(Cotangent::kFirst)) continue;
    row.distinct_results = found->distinct_results;
    row.zero_ok = found->zero_ok ? 1 : 0;
    if (found->missing_ok)
      row.missing_cotangent_ok = *found->missing_ok ? 1 : 0;
    row.linearity_err = found->linearity;
  }
  if (found->fault.empty()) return std::nullopt;
  return Verdict(Outcome::kFail,
                 found->nondeterministic ? kNondeterministic : kFailBackward,
                 found->fault);
}

Ladderer::Stop Ladderer::Jacobian() {
  const auto dy = Directions(Cotangent::kFirst);
  if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
  const auto fault =
      JacobianFault(trial_, {trial_.targets(), *dy, gradients_, compared_});
  if (!fault.ok()) return StoppedRunning(fault.status(), "Backward");
  if (!fault->has_value()) {
    return Verdict(Outcome::kPass, kTooGreat, "the gradients hold");
  }
  if ((*fault)->empty()) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward, **fault);
}

measure::Judgement Ladderer::Passed() const {
  if (judged_ == 0) {
    return Verdict(Outcome::kPass, kVacuous,
                   "no element of a gradient is known or there is none");
  }
  if (non_zero_ == 0) return Verdict(Outcome::kPass, kZero, "");
  if (non_finite_ > 0) return Verdict(Outcome::kPass, kMasked, "");
  if (telling_ == 0) {
    return Verdict(Outcome::kPass, kVacuous,
                   "all that is known of the gradients is where they are zero");
  }
  if (kinks_ > 0) return Verdict(Outcome::kPass, kSubgradient, "");
  return {Outcome::kPass, Reason::kNone, ""};
}

void Ladderer::AddRow(size_t kind, size_t target, const Compared& found,
                      int64_t backward_us) {
  GradientRow row;
  row.gradient_case = SourceOf(row_.test_id);
  row.op = row_.op;
  row.domain = row_.domain;
  row.opset = row_.opset;
  row.dtype = ToString(variant_.type);
  row.accumulator_dtype = ToString(accumulator_);
  row.input = subject_.targets[target];
  row.input_index = static_cast<int64_t>(target);
  const Tensor& want = *answers_.gradients[kind][target].value.tensor();
  row.shape = want.shape().ToString();
  row.n_in = want.num_elements();
  for (const Value& y : trial_.outputs()) {
    if (y.tensor() != nullptr) row.n_out += y.tensor()->num_elements();
  }
  row.input_class = ToString(variant_.input_class);
  row.cotangent = ToString(kCotangents[kind]);
  row.oracle = "reverse";
  row.forward_us = forward_us_;
  row.backward_us = backward_us;
  AddFound(found, &row);
  rows_.push_back(std::move(row));
}

measure::Judgement Ladderer::Finish(measure::Judgement verdict) {
  for (GradientRow& row : rows_) {
    row.n_forward = trial_.n_forward();
    row.n_backward = trial_.n_backward();
    row.reason_code = verdict.reason.text();
    record_.Add(row);
    if (row.headroom.has_value()) {
      record::Number& least = record_.result.headroom;
      least = std::min(least.value_or(1), *row.headroom);
    }
  }
  record_.result.limit_source = "units";
  record_.result.run_us = trial_.forward_us() + trial_.backward_us();
  record_.result.vacuous = verdict.outcome == Outcome::kPass && telling_ == 0;
  return verdict;
}

}  // namespace

measure::Judgement Judge(const GradientCase& c, Backend& backend,
                         record::Record* record) {
  const auto subject = SubjectOf(c);
  if (!subject.ok()) {
    measure::Judgement verdict = Stopped(subject.status());
    verdict.reason = Reason::kReader;
    return verdict;
  }
  const auto flows = CarryingOutputs(*subject->model);
  if (subject->targets.empty() ||
      std::ranges::find(flows, true) == flows.end()) {
    return Verdict(Outcome::kUnsupported, kNotDifferentiable,
                   "no input and output that the catalogue calls "
                   "differentiable");
  }
  auto trial = Trial::Load(backend, *subject);
  if (!trial.ok()) return Stopped(trial.status());
  record->result.load_us = trial->load_us();
  const int64_t began = record::SteadyMicroseconds();
  const auto answers = ReadGradientAnswers(c);
  if (answers.status().code() == StatusCode::kDataLoss) {
    return Verdict(Outcome::kError, kFailOracle, answers.status().message());
  }
  if (!answers.ok()) {
    const auto drawn = JudgeDrawnMask(c, *trial);
    if (drawn.ok() && drawn->empty()) {
      return Verdict(Outcome::kPass, kStochastic, "");
    }
    if (drawn.ok()) return Verdict(Outcome::kFail, kFailBackward, *drawn);
    return Verdict(Outcome::kUnsupported, kFailOracle,
                   answers.status().message());
  }
  const std::string disagreement = answers->ladder.Disagreement();
  if (!disagreement.empty()) {
    return Verdict(Outcome::kError, kFailOracle, disagreement);
  }
  const measure::Judgement verdict =
      Ladderer(c, *subject, *answers, *trial, *record).Judge();
  record->result.judge_us =
      record::SteadyMicroseconds() - began - record->result.run_us.value_or(0);
  return verdict;
}

}  // namespace assay::gradcheck

// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/checks.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "framework/file/csv.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/limit/limit.h"
#include "gradcheck/structure/structure.h"

namespace assay::gradcheck {
namespace {

using file::ToText;
using record::Outcome;

Result<std::vector<Value>> FirstCotangents(const Context& context,
                                           const Trial& trial) {
  return trial.Directions(Cotangent::kFirst, context.c);
}

Result<std::vector<Value>> Tangents(const Context& context,
                                    const Findings& found) {
  std::vector<Shape> shapes;
  for (const Value& gradient : found.gradients) {
    shapes.push_back(gradient.tensor()->shape());
  }
  return TangentsOf(shapes, context.c.Drawn("tangents"));
}

/// The gradient along signs, and how far off it may be.
Known Along(const Findings& found, std::span<const Value> dx) {
  Known along;
  for (size_t t = 0; t < found.gradients.size(); ++t) {
    const std::vector<double> g = NumbersOf(*found.gradients[t].tensor());
    const auto signs = dx[t].tensor()->elements<double>();
    for (size_t i = 0; i < g.size(); ++i) {
      along.value += g[i] * signs[i];
      along.bound += found.compared[t].limits[i];
    }
  }
  return along;
}

/// Fills the rows of the first cotangents, which the checks after CheckElements
/// belong to.
void ForEachFirstRow(Findings* found, const auto& fill) {
  for (GradientRow& row : found->rows) {
    if (row.cotangent == ToString(Cotangent::kFirst)) fill(row);
  }
}

/// The gradients for one of kCotangents.
struct Answered {
  size_t kind = 0;
  std::span<const Value> gradients;
  int64_t took_us = 0;
};

std::string Head(const Context& context, size_t kind, size_t target) {
  return StrCat("the gradient of '", context.subject.targets[target], "' for ",
                ToString(kCotangents[kind]), ": ");
}

GradientRow RowOf(const Context& context, const Trial& trial,
                  const Answered& answered, size_t target,
                  const Compared& compared) {
  const record::PlanRow& planned = context.c.row;
  GradientRow row;
  row.gradient_case = SourceOf(planned.test_id);
  row.op = planned.op;
  row.domain = planned.domain;
  row.opset = planned.opset;
  row.dtype = ToString(context.c.variant.type);
  row.accumulator_dtype = ToString(context.accumulator);
  row.input = context.subject.targets[target];
  row.input_index = static_cast<int64_t>(target);
  const Tensor& want =
      *context.answers.gradients[answered.kind][target].value.tensor();
  row.shape = want.shape().ToString();
  row.n_in = want.num_elements();
  for (const Value& y : trial.outputs()) {
    if (y.tensor() != nullptr) row.n_out += y.tensor()->num_elements();
  }
  row.input_class = ToString(context.c.variant.input_class);
  row.cotangent = ToString(kCotangents[answered.kind]);
  row.oracle = "reverse";
  row.backward_us = answered.took_us;
  AddFound(compared, &row);
  return row;
}

/// An element beyond its limit, or an answer too wide for its limit.
Decided CheckLimits(const Context& context, size_t kind, size_t target,
                    const Compared& compared) {
  const std::string head = Head(context, kind, target);
  if (!compared.mismatch.empty()) {
    return Verdict(Outcome::kFail, kFailBackward, head + compared.mismatch);
  }
  if (compared.beyond > 0) {
    return Verdict(Outcome::kFail, kFailBackward,
                   StrCat(head, compared.beyond, " of ", compared.count,
                          " elements are beyond their limit; ",
                          InWords(compared.worst, context.c.variant.type)));
  }
  if (compared.refused == 0) return std::nullopt;
  return Verdict(
      Outcome::kError, kFailOracle,
      StrCat(head, "the oracle's bound is ", ToText(compared.greatest_bound),
             " of the limit at most, wanted ", ToText(limit::kEnoughOfLimit)));
}

/// The sum of all elements, which is known where elements at kinks are not.
Decided CheckMass(const Context& context, size_t kind, const Known& sum) {
  if (kind >= context.answers.mass.size()) return std::nullopt;
  const Known& mass = context.answers.mass[kind];
  const double slack = mass.bound + 2 * sum.bound;
  // A NaN says nothing about the elements of its sum.
  const double off = std::abs(sum.value - mass.value);
  if (!std::isfinite(slack) || !std::isfinite(off) || off <= slack) {
    return std::nullopt;
  }
  return Verdict(Outcome::kFail, kFailBackward,
                 StrCat("at its kinks the gradient is not conserved: for ",
                        ToString(kCotangents[kind]), " its elements add to ",
                        ToText(sum.value), ", wanted ", ToText(mass.value),
                        " within ", ToText(slack)));
}

std::vector<Value> ValuesOf(std::span<const measure::ExactAnswer> answers) {
  std::vector<Value> values;
  for (const measure::ExactAnswer& answer : answers) {
    values.push_back(answer.value);
  }
  return values;
}

/// Checks against the case's own answers, from a formula, which the oracle must
/// give, too.
Decided CheckStated(const Context& context, const Trial& trial,
                    const Answered& answered) {
  if (kCotangents[answered.kind] != Cotangent::kOnes ||
      context.c.variant.input_class != InputClass::kOfficial) {
    return std::nullopt;
  }
  const GradientAnswers& exact = context.answers;
  const std::vector<std::string>& targets = context.subject.targets;
  const auto stated =
      cases::ReadStated(context.c.row.directory, exact.outputs.size(), targets);
  if (!stated.ok()) {
    return StoppedRunning(stated.status(), "the stated answers");
  }
  std::string fault = FaultOfStated(*stated, targets, ValuesOf(exact.outputs),
                                    ValuesOf(exact.gradients[answered.kind]));
  if (!fault.empty()) {
    return Verdict(Outcome::kError, kFailOracle,
                   StrCat("by the oracle ", fault));
  }
  fault = FaultOfStated(*stated, targets, trial.outputs(), answered.gradients);
  if (fault.empty()) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward, fault);
}

/// Compares the gradients of all targets for one of kCotangents.
std::vector<Compared> CompareAll(const Context& context,
                                 const Answered& answered) {
  const auto& answers = context.answers.gradients[answered.kind];
  const auto [input_class, type] = context.c.variant;
  const bool has_zeros = kCotangents[answered.kind] == Cotangent::kOneHot;
  std::vector<Compared> compared;
  for (size_t t = 0; t < answered.gradients.size(); ++t) {
    compared.push_back(
        Compare(*answered.gradients[t].tensor(), answers[t],
                {type, input_class == InputClass::kExact,
                 has_zeros ? &context.answers.gradients[0][t] : nullptr,
                 context.accumulator}));
  }
  return compared;
}

void Count(const Compared& compared, Findings* found) {
  found->judged += compared.count - compared.unknown;
  found->non_zero += compared.count - compared.zeros;
  found->telling += compared.telling;
  found->kinks += compared.kinks;
  found->non_finite += compared.non_finite;
}

/// Each gradient has its row, even after one beyond its limit.
Decided CheckOneCotangent(const Context& context, const Trial& trial,
                          const Answered& answered, Findings* found) {
  const size_t n_answers = context.answers.gradients[answered.kind].size();
  if (n_answers != answered.gradients.size()) {
    return Verdict(Outcome::kError, kFailOracle,
                   StrCat("the oracle has ", n_answers, " gradients for ",
                          answered.gradients.size(), " targets"));
  }
  std::vector<Compared> compared = CompareAll(context, answered);
  Decided decided;
  Known sum;
  for (size_t t = 0; t < compared.size(); ++t) {
    found->rows.push_back(RowOf(context, trial, answered, t, compared[t]));
    if (!decided.has_value()) {
      decided = CheckLimits(context, answered.kind, t, compared[t]);
    }
    sum.value += compared[t].sum;
    // A sum with an unknown element is unknown.
    sum.bound += compared[t].unknown > 0
                     ? std::numeric_limits<double>::infinity()
                     : compared[t].sum_limit;
    Count(compared[t], found);
  }
  if (!decided.has_value()) decided = CheckMass(context, answered.kind, sum);
  if (!decided.has_value()) decided = CheckStated(context, trial, answered);
  if (answered.kind == 0) {
    found->gradients.assign(answered.gradients.begin(),
                            answered.gradients.end());
    found->compared = std::move(compared);
  }
  return decided;
}

}  // namespace

Decided CheckForward(const Context& context, Trial& trial,
                     Findings* /*found*/) {
  const auto& answers = context.answers.outputs;
  const record::PlanRow& row = context.c.row;
  for (size_t i = 0; i < answers.size(); ++i) {
    const Tensor* const y = trial.outputs()[i].tensor();
    if (y == nullptr || !Carries(y->dtype()) || !answers[i].bound.defined()) {
      continue;
    }
    const std::string fault = limit::FaultOf(
        *y, answers[i],
        {context.c.variant.type, row.rtol.value_or(0), row.atol.value_or(0)});
    if (fault.empty()) continue;
    return Verdict(
        Outcome::kFail, kFailForward,
        StrCat("output ", i, " of the network loaded for gradients: ", fault));
  }
  return std::nullopt;
}

Decided CheckElements(const Context& context, Trial& trial, Findings* found) {
  std::vector<std::vector<Value>> cotangents;
  std::vector<host::BackwardAsk> asks;
  cotangents.reserve(kCotangents.size());
  for (const Cotangent kind : kCotangents) {
    auto dy = trial.Directions(kind, context.c);
    if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
    cotangents.push_back(*std::move(dy));
    asks.push_back({cotangents.back(), trial.targets()});
  }
  const std::vector<host::Pulled> pulled = trial.BackwardEach(asks);
  for (size_t kind = 0; kind < pulled.size(); ++kind) {
    const Result<std::vector<Value>>& gradients = pulled[kind].gradients;
    if (!gradients.ok()) return StoppedRunning(gradients.status(), "Backward");
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
        pulled[kind].took);
    Decided decided = CheckOneCotangent(
        context, trial, {kind, *gradients, took.count()}, found);
    if (decided.has_value()) return decided;
  }
  return std::nullopt;
}

Decided CheckTangent(const Context& context, Trial& /*trial*/,
                     Findings* found) {
  const auto dx = Tangents(context, *found);
  if (!dx.ok()) return StoppedRunning(dx.status(), "the tangents");
  const Known along = Along(*found, *dx);
  const Known& exact = context.answers.ladder.tangent;
  const double slack = along.bound + exact.bound;
  const double error = std::abs(along.value - exact.value);
  if (!std::isfinite(slack) || !std::isfinite(error)) return std::nullopt;
  ForEachFirstRow(found, [&](GradientRow& row) {
    row.adjoint_err = error;
    row.adjoint_bound = slack;
  });
  if (error <= slack) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward,
                 StrCat("along signs the gradient is ", ToText(along.value),
                        ", the exact tangent is ", ToText(exact.value),
                        " within ", ToText(slack)));
}

Decided BesideDifferences(const Context& context, Trial& trial, Findings* found,
                          Decided decided) {
  if (!trial.IsInDouble() || found->gradients.empty()) return decided;
  const auto dy = FirstCotangents(context, trial);
  const auto dx = Tangents(context, *found);
  if (!dy.ok() || !dx.ok()) return decided;
  const auto differences = DifferencesOf(trial, *dy, *dx);
  if (!differences.ok()) {
    if (decided.has_value()) return decided;
    return StoppedRunning(differences.status(), "Forward");
  }
  const Known along = Along(*found, *dx);
  const Slope& slope = differences->slope;
  ForEachFirstRow(found, [&](GradientRow& row) {
    row.dir_err = std::abs(along.value - slope.value);
    row.dir_bound = along.bound + slope.bound;
    row.h_min = differences->h_min;
    row.h_max = differences->h_max;
  });
  Known exact = context.answers.ladder.tangent;
  // At a kink the exact tangent is one of several, and differences give the
  // mean of two of them.
  if (found->kinks > 0) exact.bound = std::numeric_limits<double>::infinity();
  if (!decided.has_value() || decided->outcome != Outcome::kFail ||
      !ShowsAnotherForward(slope, along.value, exact)) {
    return decided;
  }
  return Verdict(
      Outcome::kFail, kFailForward,
      StrCat("the gradient is that of the forward, along signs ",
             ToText(along.value), ", which differs from the exact one, ",
             ToText(exact.value), "; ", decided->message));
}

Decided CheckStructure(const Context& context, Trial& trial, Findings* found) {
  const auto dy = FirstCotangents(context, trial);
  if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
  const auto structure = StructureOf(
      trial, {trial.targets(), *dy, found->gradients, found->compared});
  if (!structure.ok()) return StoppedRunning(structure.status(), "Backward");
  ForEachFirstRow(found, [&](GradientRow& row) {
    row.distinct_results = structure->distinct_results;
    row.zero_ok = structure->zero_ok ? 1 : 0;
    if (structure->missing_ok.has_value()) {
      row.missing_cotangent_ok = *structure->missing_ok ? 1 : 0;
    }
    row.linearity_err = structure->linearity;
  });
  if (structure->fault.empty()) return std::nullopt;
  return Verdict(
      Outcome::kFail,
      structure->nondeterministic ? kNondeterministic : kFailBackward,
      structure->fault);
}

Decided CheckJacobian(const Context& context, Trial& trial, Findings* found) {
  if (context.c.variant.input_class != InputClass::kJacobian) {
    return std::nullopt;
  }
  const auto dy = FirstCotangents(context, trial);
  if (!dy.ok()) return StoppedRunning(dy.status(), "the cotangents");
  const auto fault = JacobianFault(
      trial, {trial.targets(), *dy, found->gradients, found->compared});
  if (!fault.ok()) return StoppedRunning(fault.status(), "Backward");
  if (!fault->has_value()) {
    return Verdict(Outcome::kPass, kTooGreat, "the gradients hold");
  }
  if ((*fault)->empty()) return std::nullopt;
  return Verdict(Outcome::kFail, kFailBackward, **fault);
}

}  // namespace assay::gradcheck

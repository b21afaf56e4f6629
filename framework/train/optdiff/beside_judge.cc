// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/beside_judge.h"

#include <algorithm>
#include <cmath>

#include "framework/metric/exact_difference.h"
#include "framework/testing/limit/limit.h"

namespace assay::optdiff {
namespace {

/// Moves each number by one roundoff, up or down.
void Round(double roundoff, draw::Draw* draw, std::span<double> numbers) {
  for (double& x : numbers) x *= 1 + draw->Sign() * roundoff;
}

bool AreAlike(const train::Parameter& now, const Tensor& last) {
  return std::ranges::equal(now.value.bytes(), last.bytes());
}

constexpr int64_t kFirstRuns = 10;

double Norm(std::span<const double> a) {
  double squares = 0;
  for (const double x : a) squares += x * x;
  return std::sqrt(squares);
}

}  // namespace

Tensor Place::InputOf(std::string_view name, size_t* next) const {
  for (const auto& group : {parameters, given}) {
    const auto found = std::ranges::find(group, name, &train::Parameter::name);
    if (found != group.end()) return found->value;
  }
  return batch[(*next)++];
}

bool JudgeNetwork::IsLast(const Place& place) const {
  return last_ != nullptr &&
         std::ranges::equal(place.batch, last_batch_, {}, &Tensor::data,
                            &Tensor::data) &&
         std::ranges::equal(place.parameters, last_parameters_, AreAlike) &&
         std::ranges::equal(place.given, last_given_, AreAlike);
}

/// Sets the step and the statistics of the place.
void JudgeNetwork::Go(const Place& place) {
  objective_->At(place.step);
  for (train::StateTensor& statistic : objective_->Statistics()) {
    const auto from = std::ranges::find(place.given, statistic.parameter,
                                        &train::Parameter::name);
    if (from == place.given.end()) continue;
    std::ranges::copy(draw::NumbersOf(from->value),
                      statistic.value.mutable_elements<double>().begin());
  }
}

Result<JudgeNetwork::Answer> JudgeNetwork::Evaluate(
    std::span<const Tensor> batch) {
  ASSAY_RETURN_IF_ERROR(objective_->Put(batch));
  ASSAY_ASSIGN_OR_RETURN(const train::Evaluation found, objective_->Evaluate());
  Answer answer{found.loss, {}, {}};
  for (const Tensor& gradient : found.gradients) {
    answer.gradients.push_back(draw::NumbersOf(gradient));
  }
  for (const train::StateTensor& statistic : objective_->Statistics()) {
    answer.statistics.push_back(draw::NumbersOf(statistic.value));
  }
  return answer;
}

Result<std::shared_ptr<const JudgeNetwork::Answer>> JudgeNetwork::At(
    const Place& place) {
  const std::lock_guard lock(mutex_);
  if (IsLast(place)) return last_;
  last_.reset();
  last_batch_.assign(place.batch.begin(), place.batch.end());
  last_parameters_.clear();
  for (size_t p = 0; p < place.parameters.size(); ++p) {
    const Tensor& value = place.parameters[p].value;
    ASSAY_ASSIGN_OR_RETURN(last_parameters_.emplace_back(), value.Clone());
    std::ranges::copy(
        draw::NumbersOf(value),
        objective_->parameters()[p].value.mutable_elements<double>().begin());
  }
  last_given_.clear();
  for (const train::Parameter& given : place.given) {
    ASSAY_ASSIGN_OR_RETURN(last_given_.emplace_back(), given.value.Clone());
  }
  Go(place);
  ASSAY_ASSIGN_OR_RETURN(Answer answer, Evaluate(place.batch));
  return last_ = std::make_shared<const Answer>(std::move(answer));
}

Result<JudgeNetwork::Answer> JudgeNetwork::Rounded(const Place& place,
                                                   double roundoff,
                                                   draw::Draw* draw) {
  const std::lock_guard lock(mutex_);
  std::vector<Tensor> batch;
  for (const Tensor& tensor : place.batch) {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
    if (copy.dtype() == DType::kFloat64) {
      Round(roundoff, draw, copy.mutable_elements<double>());
    }
    batch.push_back(std::move(copy));
  }
  for (size_t p = 0; p < place.parameters.size(); ++p) {
    const std::span<double> numbers =
        objective_->parameters()[p].value.mutable_elements<double>();
    std::ranges::copy(draw::NumbersOf(place.parameters[p].value),
                      numbers.begin());
    Round(roundoff, draw, numbers);
  }
  Go(place);
  return Evaluate(batch);
}

double L2(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return std::sqrt(squares);
}

Distance DistanceOf(const Tensor& got, std::span<const double> want) {
  const std::vector<double> numbers = draw::NumbersOf(got);
  Distance distance;
  distance.l2 = L2(numbers, want);
  distance.norm = Norm(want);
  for (size_t i = 0; i < want.size(); ++i) {
    const double off = std::abs(numbers[i] - want[i]);
    // NaN counts as the greatest and stays.
    if (!(off <= distance.linf) && !std::isnan(distance.linf)) {
      distance.linf = off;
    }
    if (off == 0) continue;
    const double ulps = off / metric::UlpAt(got.dtype(), want[i]);
    if (std::isfinite(ulps)) {
      distance.max_ulp = std::max(distance.max_ulp, ulps);
    }
  }
  return distance;
}

Status BesideJudge::Put(std::span<const Tensor> narrow,
                        std::span<const Tensor> wide) {
  wide_.assign(wide.begin(), wide.end());
  return backend_->Put(narrow);
}

Status BesideJudge::KeepPlace() {
  place_.resize(backend_->parameters().size());
  for (size_t p = 0; p < place_.size(); ++p) {
    const train::Parameter& parameter = backend_->parameters()[p];
    ASSAY_ASSIGN_OR_RETURN(Tensor value, parameter.value.Clone());
    place_[p] = {parameter.name, std::move(value)};
  }
  given_.clear();
  fed_back_.clear();
  for (const train::StateTensor& statistic : backend_->Statistics()) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value, statistic.value.Clone());
    fed_back_.push_back({statistic.parameter, draw::NumbersOf(value)});
    given_.push_back({statistic.parameter, std::move(value)});
  }
  return OkStatus();
}

/// Keeps the masks that the evaluation drew.
Status BesideJudge::KeepMasks() {
  for (size_t i = 0; i < backend_->masks().size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value, backend_->masks()[i].Clone());
    given_.push_back({backend_->mask_names()[i].name, std::move(value)});
  }
  return OkStatus();
}

void BesideJudge::Compare(const JudgeNetwork::Answer& exact) {
  judge_loss_ = exact.loss;
  const double off = std::abs(loss_ - exact.loss);
  loss_distance_ = {.l2 = off, .linf = off, .norm = std::abs(exact.loss)};
  gradients_.clear();
  for (size_t p = 0; p < got_.size(); ++p) {
    gradients_.push_back(DistanceOf(got_[p], exact.gradients[p]));
  }
  const auto now = backend_->Statistics();
  for (size_t s = 0; s < fed_back_.size(); ++s) {
    FedBack& fed = fed_back_[s];
    fed.got = draw::NumbersOf(now[s].value);
    fed.wanted = exact.statistics[s];
    fed.distance = DistanceOf(now[s].value, fed.wanted);
  }
}

Status BesideJudge::SeeRoundings(const JudgeNetwork::Answer& exact) {
  ASSAY_ASSIGN_OR_RETURN(const JudgeNetwork::Answer rounded,
                         judge_->Rounded(PlaceOf(wide_), Roundoff(), &draw_));
  rounded_.clear();
  rounded_.push_back(
      {std::abs(rounded.loss - exact.loss), loss_distance_.norm});
  for (size_t p = 0; p < got_.size(); ++p) {
    rounded_.push_back(
        {L2(rounded.gradients[p], exact.gradients[p]), gradients_[p].norm});
  }
  for (size_t s = 0; s < fed_back_.size(); ++s) {
    rounded_.push_back({L2(rounded.statistics[s], exact.statistics[s]),
                        fed_back_[s].distance.norm});
  }
  return OkStatus();
}

double BesideJudge::Explained(const Rounding& rounding, double norm) const {
  const double grown = rounding.norm > 0 ? norm / rounding.norm : 1;
  return std::max(Roundoff() * norm, rounding.l2 * grown);
}

double BesideJudge::Roundoff() const {
  return limit::UnitRoundoff(backend_->parameters()[0].value.dtype());
}

Result<train::Evaluation> BesideJudge::Evaluate() {
  if (!watches_) return backend_->Evaluate();
  ASSAY_RETURN_IF_ERROR(KeepPlace());
  ASSAY_ASSIGN_OR_RETURN(train::Evaluation found, backend_->Evaluate());
  loss_ = found.loss;
  got_.clear();
  for (const Tensor& gradient : found.gradients) {
    ASSAY_ASSIGN_OR_RETURN(got_.emplace_back(), gradient.Clone());
  }
  ++n_runs_;
  ASSAY_RETURN_IF_ERROR(KeepMasks());
  ASSAY_ASSIGN_OR_RETURN(const auto exact, judge_->At(PlaceOf(wide_)));
  Compare(*exact);
  if (n_runs_ <= kFirstRuns || n_runs_ % rounded_every_ == 0) {
    ASSAY_RETURN_IF_ERROR(SeeRoundings(*exact));
  }
  Explain();
  return found;
}

void BesideJudge::Explain() {
  loss_distance_.explained = Explained(rounded_[0], loss_distance_.norm);
  for (size_t p = 0; p < gradients_.size(); ++p) {
    gradients_[p].explained = Explained(rounded_[p + 1], gradients_[p].norm);
  }
  for (size_t s = 0; s < fed_back_.size(); ++s) {
    Distance& distance = fed_back_[s].distance;
    distance.explained =
        Explained(rounded_[gradients_.size() + 1 + s], distance.norm);
  }
}

Status BesideJudge::LookAgain(size_t gradient, double share) {
  // A smooth effect grows with the size of the roundings and is scaled back.
  constexpr int kDraws = 16;
  constexpr double kAtOnce = 4;
  if (gradients_[gradient].share() <= share) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto exact, judge_->At(PlaceOf(wide_)));
  for (int i = 0; i < kDraws && !(gradients_[gradient].share() <= share); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        const JudgeNetwork::Answer rounded,
        judge_->Rounded(PlaceOf(wide_), kAtOnce * Roundoff(), &draw_));
    const auto see = [](double l2, double norm, Rounding* worst) {
      if (l2 / kAtOnce > worst->l2) *worst = {l2 / kAtOnce, norm};
    };
    see(std::abs(rounded.loss - exact->loss), loss_distance_.norm,
        &rounded_[0]);
    for (size_t p = 0; p < gradients_.size(); ++p) {
      see(L2(rounded.gradients[p], exact->gradients[p]), gradients_[p].norm,
          &rounded_[p + 1]);
    }
    Explain();
  }
  return OkStatus();
}

}  // namespace assay::optdiff

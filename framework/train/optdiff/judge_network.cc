// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/judge_network.h"

#include <algorithm>
#include <utility>

namespace assay::optdiff {
namespace {

/// Moves each number by one roundoff, up or down.
void Round(double roundoff, draw::Draw* draw, std::span<double> numbers) {
  for (double& x : numbers) x *= 1 + draw->Sign() * roundoff;
}

bool AreAlike(const train::Parameter& now, const Tensor& last) {
  return std::ranges::equal(now.value.bytes(), last.bytes());
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

}  // namespace assay::optdiff

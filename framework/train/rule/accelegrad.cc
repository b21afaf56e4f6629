// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/accelegrad.h"

#include <algorithm>
#include <cmath>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

using NormOver = AcceleGradSettings::NormOver;

constexpr size_t kZ = 0, kSquares = 1;

double WeightOf(int64_t step) {
  return step <= 3 ? 1 : static_cast<double>(step) / 4;
}

}  // namespace

void AcceleGradSettings::AddTo(Settings* settings) {
  settings->Add("diameter", &diameter);
  settings->Add("bound", &bound);
  settings->Add("norm_over", &norm_over, kNormWords);
}

Status AcceleGrad::PrepareParameter(const Progress& at, Slots& slots,
                                    Tensor* parameter) {
  const double of_z = 1 / WeightOf(at.step);
  return InPlace(parameter, *parameter, slots,
                 [&]<class T>(const Elements<T>& each) {
                   const std::span<T> z = each.state[kZ];
                   if (at.step == 1) std::ranges::copy(each.x, z.begin());
                   const auto near = static_cast<T>(of_z);
                   const auto far = static_cast<T>(1 - of_z);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     each.x[i] = near * z[i] + far * each.x[i];
                   }
                 });
}

Status AcceleGrad::NewGradients(const Progress&,
                                std::span<const Tensor> gradients) {
  ASSAY_ASSIGN_OR_RETURN(squares_of_all_, SquaredNorm(gradients));
  return OkStatus();
}

Status AcceleGrad::UpdateRule(const Progress& at, const Tensor& gradient,
                              Slots& slots, Tensor* parameter) {
  const double weight = WeightOf(at.step);
  double& sum = slots[kSquares].mutable_elements<double>()[0];
  double squares = squares_of_all_;
  if (settings_.norm_over == NormOver::kParameter) {
    ASSAY_ASSIGN_OR_RETURN(squares, SquaredNorm({&gradient, 1}));
  }
  sum += weight * weight * squares;
  const double eta = at.rate * 2 * settings_.diameter /
                     std::sqrt(settings_.bound * settings_.bound + sum);
  return InPlace(parameter, gradient, slots,
                 [&]<class T>(const Elements<T>& each) {
                   const auto of_z = static_cast<T>(weight * eta);
                   const auto of_y = static_cast<T>(eta);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     each.state[kZ][i] -= of_z * each.g[i];
                     each.x[i] -= of_y * each.g[i];
                   }
                 });
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/adadelta.h"

#include "framework/train/optimizer/in_place.h"
#include "framework/train/rule/root.h"

namespace assay::train {

void AdaDeltaSettings::AddTo(Settings* settings) {
  settings->Add("rho", &rho, {0, 1});
  settings->Add("epsilon", &epsilon);
}

Status AdaDelta::UpdateRule(const Progress& at, const Tensor& gradient,
                            Slots& slots, Tensor* parameter) {
  return InPlace(parameter, gradient, slots,
                 [&]<class T>(const Elements<T>& each) {
                   const auto rate = static_cast<T>(at.rate);
                   const auto rho = static_cast<T>(settings_.rho);
                   const auto rest = static_cast<T>(1 - settings_.rho);
                   const Root<T> root(settings_.epsilon, EpsilonAt::kInRoot);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     T& squares = each.state[0][i];
                     T& steps = each.state[1][i];
                     squares = rho * squares + rest * (each.g[i] * each.g[i]);
                     const T step = root(steps) / root(squares) * each.g[i];
                     steps = rho * steps + rest * (step * step);
                     each.x[i] -= rate * step;
                   }
                 });
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/adagrad.h"

#include "framework/train/optimizer/in_place.h"

namespace assay::train {

void AdaGradSettings::AddTo(Settings* settings) {
  settings->Add("epsilon", &epsilon);
  settings->Add("epsilon_at", &epsilon_at, kEpsilonWords);
  settings->Add("initial", &initial);
  settings->Add("rate_decay", &rate_decay);
}

Status AdaGrad::UpdateRule(const Progress& at, const Tensor& gradient,
                           Slots& slots, Tensor* parameter) {
  const double done = static_cast<double>(at.step - 1);
  const double rate_now = at.rate / (1 + done * settings_.rate_decay);
  return InPlace(parameter, gradient, slots,
                 [&]<class T>(const Elements<T>& each) {
                   const auto rate = static_cast<T>(rate_now);
                   const Root<T> root(settings_.epsilon, settings_.epsilon_at);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     T& h = each.state[0][i];
                     h += each.g[i] * each.g[i];
                     each.x[i] -= rate * (each.g[i] / root(h));
                   }
                 });
}

}  // namespace assay::train

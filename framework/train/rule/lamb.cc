// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/lamb.h"

#include <algorithm>
#include <cmath>

#include "framework/train/optimizer/in_place.h"
#include "framework/train/rule/adam.h"
#include "framework/train/rule/root.h"

namespace assay::train {

void LambSettings::AddTo(Settings* settings) {
  settings->Add("beta1", &beta1, {0, 1});
  settings->Add("beta2", &beta2, {0, 1});
  settings->Add("epsilon", &epsilon);
  settings->Add("least", &least);
  settings->Add("most", &most);
}

Status Lamb::UpdateRule(const Progress& at, const Tensor& gradient,
                        Slots& slots, Tensor* parameter) {
  const double bias1 = BiasOf(settings_.beta1, at.step);
  const double bias2 = BiasOf(settings_.beta2, at.step);
  return InPlace(
      parameter, gradient, slots, [&]<class T>(const Elements<T>& each) {
        const auto beta1 = static_cast<T>(settings_.beta1);
        const auto beta2 = static_cast<T>(settings_.beta2);
        const auto rest1 = static_cast<T>(1 - settings_.beta1);
        const auto rest2 = static_cast<T>(1 - settings_.beta2);
        const auto first = static_cast<T>(bias1);
        const auto second = static_cast<T>(bias2);
        const auto decay = static_cast<T>(at.weight_decay);
        const Root<T> root(settings_.epsilon, EpsilonAt::kAfterRoot);
        const auto step_of = [&](size_t i) {
          return (each.state[0][i] / first) / root(each.state[1][i] / second) +
                 decay * each.x[i];
        };
        double x_squares = 0;
        double step_squares = 0;
        for (size_t i = 0; i < each.x.size(); ++i) {
          T& m = each.state[0][i];
          T& v = each.state[1][i];
          m = beta1 * m + rest1 * each.g[i];
          v = beta2 * v + rest2 * (each.g[i] * each.g[i]);
          const double x = each.x[i];
          const double step = step_of(i);
          x_squares += x * x;
          step_squares += step * step;
        }
        const double size = std::min(
            std::max(std::sqrt(x_squares), settings_.least), settings_.most);
        const bool is_scaled = size > 0 && step_squares > 0;
        const auto rate = static_cast<T>(
            is_scaled ? at.rate * size / std::sqrt(step_squares) : at.rate);
        for (size_t i = 0; i < each.x.size(); ++i) {
          each.x[i] -= rate * step_of(i);
        }
      });
}

}  // namespace assay::train

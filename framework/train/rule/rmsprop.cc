// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/rmsprop.h"

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

constexpr size_t kSquare = 0, kVelocity = 1, kMean = 2;

}  // namespace

void RmsPropSettings::AddTo(Settings* settings) {
  settings->Add("rho", &rho, {0, 1});
  settings->Add("initial", &initial);
  settings->Add("epsilon", &epsilon);
  settings->Add("epsilon_at", &epsilon_at, kEpsilonWords);
  settings->Add("momentum", &momentum, {0, 1});
  settings->Add("rate_at", &rate_at, kRateWords);
  settings->Add("centered", &centered, kCenteredWords);
}

Status RmsProp::UpdateRule(const Progress& at, const Tensor& gradient,
                           Slots& slots, Tensor* parameter) {
  const bool is_inside = settings_.rate_at == RmsPropSettings::RateAt::kInside;
  const bool is_centered =
      settings_.centered == RmsPropSettings::Centered::kYes;
  return InPlace(
      parameter, gradient, slots, [&]<class T>(const Elements<T>& each) {
        const auto rho = static_cast<T>(settings_.rho);
        const auto rest = static_cast<T>(1 - settings_.rho);
        const auto momentum = static_cast<T>(settings_.momentum);
        const auto added = static_cast<T>(is_inside ? at.rate : 1.0);
        const auto taken = static_cast<T>(is_inside ? 1.0 : at.rate);
        const Root<T> root(settings_.epsilon, settings_.epsilon_at);
        for (size_t i = 0; i < each.x.size(); ++i) {
          const T g = each.g[i];
          T& square = each.state[kSquare][i];
          square = rho * square + rest * (g * g);
          T spread = square;
          if (is_centered) {
            T& mean = each.state[kMean][i];
            mean = rho * mean + rest * g;
            spread -= mean * mean;
          }
          T& velocity = each.state[kVelocity][i];
          velocity = momentum * velocity + added * (g / root(spread));
          each.x[i] -= taken * velocity;
        }
      });
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/adaptive.h"

#include <algorithm>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

// The slots of RmsProp, and of AcceleGrad.
constexpr size_t kSquare = 0, kVelocity = 1, kMean = 2;
constexpr size_t kZ = 0, kSquares = 1;

using NormOver = AcceleGradSettings::NormOver;

double WeightOf(int64_t step) {
  return step <= 3 ? 1 : static_cast<double>(step) / 4;
}

}  // namespace

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

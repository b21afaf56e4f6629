// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/adam.h"

#include <algorithm>
#include <cmath>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

constexpr size_t kFirst = 0, kSecond = 1, kGreatest = 2;

}  // namespace

AdamFactors FactorsOf(const AdamSettings& settings, const Progress& at) {
  const int64_t t =
      settings.first_t == AdamSettings::FirstT::kZero ? at.step - 1 : at.step;
  const double first = BiasOf(settings.beta1, t);
  const double second = BiasOf(settings.beta2, t);
  switch (settings.correction) {
    case AdamSettings::Correction::kMoments:
      return {at.rate, first, second};
    case AdamSettings::Correction::kRate:
      return {at.rate * std::sqrt(second) / first, 1, 1};
    case AdamSettings::Correction::kNone:
      break;
  }
  return {at.rate, 1, 1};
}

double BiasOf(double beta, int64_t t) {
  if (t == 0) return 1;
  return -std::expm1(static_cast<double>(t) * std::log(beta));
}

void AdamSettings::AddTo(Settings* settings) {
  settings->Add("beta1", &beta1, {0, 1});
  settings->Add("beta2", &beta2, {0, 1});
  settings->Add("epsilon", &epsilon);
  settings->Add("epsilon_at", &epsilon_at, kEpsilonWords);
  settings->Add("correction", &correction, kCorrectionWords);
  settings->Add("maximum", &maximum, kMaximumWords);
  settings->Add("first_t", &first_t, kFirstWords);
}

std::vector<Slot> Adam::StateOfEach() const {
  std::vector<Slot> slots = {{"first_moment"}, {"second_moment"}};
  if (settings_.maximum != AdamSettings::Maximum::kNone) {
    slots.push_back({"greatest_second_moment"});
  }
  return slots;
}

Status Adam::UpdateRule(const Progress& at, const Tensor& gradient,
                        Slots& slots, Tensor* parameter) {
  const AdamFactors factors = FactorsOf(settings_, at);
  using Maximum = AdamSettings::Maximum;
  return InPlace(parameter, gradient, slots,
                 [&]<class T>(const Elements<T>& each) {
                   const auto beta1 = static_cast<T>(settings_.beta1);
                   const auto beta2 = static_cast<T>(settings_.beta2);
                   const auto rest1 = static_cast<T>(1 - settings_.beta1);
                   const auto rest2 = static_cast<T>(1 - settings_.beta2);
                   const auto rate = static_cast<T>(factors.rate);
                   const auto first = static_cast<T>(factors.first);
                   const auto second = static_cast<T>(factors.second);
                   const Root<T> root(settings_.epsilon, settings_.epsilon_at);
                   for (size_t i = 0; i < each.x.size(); ++i) {
                     const T g = each.g[i];
                     T& m = each.state[kFirst][i];
                     T& v = each.state[kSecond][i];
                     m = beta1 * m + rest1 * g;
                     v = beta2 * v + rest2 * (g * g);
                     T corrected = v / second;
                     if (settings_.maximum == Maximum::kBefore) {
                       T& greatest = each.state[kGreatest][i];
                       greatest = std::max(greatest, v);
                       corrected = greatest / second;
                     } else if (settings_.maximum == Maximum::kAfter) {
                       T& greatest = each.state[kGreatest][i];
                       greatest = std::max(greatest, corrected);
                       corrected = greatest;
                     }
                     each.x[i] -= rate * ((m / first) / root(corrected));
                   }
                 });
}

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
        const auto decay = static_cast<T>(at.own_decay);
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

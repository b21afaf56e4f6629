// SPDX-License-Identifier: Apache-2.0

#include "framework/train/rule/descent.h"

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

using Nesterov = DescentSettings::Nesterov;

/// How far a velocity carries the parameter.
double ReachOf(const DescentSettings& settings, double rate) {
  return settings.rate_at == DescentSettings::RateAt::kInside ? 1 : -rate;
}

}  // namespace

void DescentSettings::AddTo(Settings* settings) {
  settings->Add("momentum", &momentum, {0, 1});
  settings->Add("dampening", &dampening, {0, 1});
  settings->Add("rate_at", &rate_at, kRateWords);
  settings->Add("nesterov", &nesterov, kNesterovWords);
  settings->Add("first", &first, kFirstWords);
}

std::vector<Slot> Descent::StateOfEach() const {
  return settings_.momentum == 0 ? std::vector<Slot>()
                                 : std::vector<Slot>{{"velocity"}};
}

/// Adds `times` what the momentum alone would do.
Status Descent::GoAhead(double times, const Progress& at, Slots& slots,
                        Tensor* parameter) const {
  if (slots.empty() || settings_.nesterov != Nesterov::kAhead) {
    return OkStatus();
  }
  return InPlace(
      parameter, *parameter, slots, [&]<class T>(const Elements<T>& each) {
        const auto ahead = static_cast<T>(times * settings_.momentum *
                                          ReachOf(settings_, at.rate));
        for (size_t i = 0; i < each.x.size(); ++i) {
          each.x[i] += ahead * each.state[0][i];
        }
      });
}

Status Descent::PrepareParameter(const Progress& at, Slots& slots,
                                 Tensor* parameter) {
  return GoAhead(1, at, slots, parameter);
}

Status Descent::RestoreParameter(const Progress& at, Slots& slots,
                                 Tensor* parameter) {
  return GoAhead(-1, at, slots, parameter);
}

Status Descent::UpdateRule(const Progress& at, const Tensor& gradient,
                           Slots& slots, Tensor* parameter) {
  const bool is_undampened =
      at.step == 1 && settings_.first == DescentSettings::First::kUndampened;
  const double fresh = is_undampened ? 1 : 1 - settings_.dampening;
  const double reach = ReachOf(settings_, at.rate);
  return InPlace(
      parameter, gradient, slots, [&]<class T>(const Elements<T>& each) {
        if (slots.empty()) {
          const auto rate = static_cast<T>(at.rate);
          for (size_t i = 0; i < each.x.size(); ++i) {
            each.x[i] -= rate * each.g[i];
          }
          return;
        }
        const bool is_inside =
            settings_.rate_at == DescentSettings::RateAt::kInside;
        const auto momentum = static_cast<T>(settings_.momentum);
        const auto added = static_cast<T>(is_inside ? -at.rate * fresh : fresh);
        const auto direct = static_cast<T>(is_inside ? -at.rate : 1.0);
        const auto step = static_cast<T>(reach);
        const bool is_folded = settings_.nesterov == Nesterov::kFolded;
        for (size_t i = 0; i < each.x.size(); ++i) {
          T& v = each.state[0][i];
          v = momentum * v + added * each.g[i];
          each.x[i] +=
              step * (is_folded ? direct * each.g[i] + momentum * v : v);
        }
      });
}

}  // namespace assay::train

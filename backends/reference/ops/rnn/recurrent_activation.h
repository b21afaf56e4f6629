// SPDX-License-Identifier: Apache-2.0
//
// The activation functions that recurrent operators name in attributes.
// Source: the page of LSTM-22, "Activation functions".

#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"
#include "framework/core/status.h"

namespace assay::reference {

/// A function of one argument, which is first confined to [-clip, clip].
template <class T>
class Activation {
 public:
  using Function = T (*)(T x, T alpha, T beta);

  Activation(Function function, float alpha, float beta,
             std::optional<float> clip)
      : function_(function), alpha_(alpha), beta_(beta), clip_(clip) {}

  T operator()(T x) const {
    if (clip_.has_value()) x = Max(-T(*clip_), Min(T(*clip_), x));
    return function_(x, T(alpha_), T(beta_));
  }

 private:
  Function function_;
  float alpha_;
  float beta_;
  std::optional<float> clip_;
};

template <class T>
struct NamedActivation {
  const char* name;
  typename Activation<T>::Function function;
  std::optional<float> alpha;  // its default, where it has this parameter
  std::optional<float> beta;
};

template <class T>
std::span<const NamedActivation<T>> KnownActivations() {
  static const std::array<NamedActivation<T>, 11> kKnown = {{
      {"Relu", [](T x, T, T) { return Max(T(0), x); }, {}, {}},
      {"Tanh", [](T x, T, T) { return T(tanh(x)); }, {}, {}},
      {"Sigmoid", [](T x, T, T) { return Sigmoid(x); }, {}, {}},
      {"Affine", [](T x, T a, T b) { return a * x + b; }, 1.0F, 0.0F},
      {"LeakyRelu",
       [](T x, T a, T) {
         return IfBefore(
             x, T(0), [&] { return a * x; }, [&] { return x; });
       },
       0.01F,
       {}},
      {"ThresholdedRelu",
       [](T x, T a, T) { return Less(a, x) ? x : T(0); },
       1.0F,
       {}},
      {"ScaledTanh", [](T x, T a, T b) { return a * T(tanh(b * x)); }, 1.0F,
       1.0F},
      {"HardSigmoid",
       [](T x, T a, T b) { return Min(Max(a * x + b, T(0)), T(1)); }, 0.2F,
       0.5F},
      {"Elu",
       [](T x, T a, T) {
         return IfBefore(
             x, T(0), [&] { return a * T(expm1(x)); }, [&] { return x; });
       },
       1.0F,
       {}},
      {"Softsign", [](T x, T, T) { return x / (T(1) + abs(x)); }, {}, {}},
      {"Softplus", [](T x, T, T) { return Softplus(x); }, {}, {}},
  }};
  return kKnown;
}

/// Names are compared without regard to case, as ONNX's pages spell them in
/// two ways.
inline bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// `defaults` once for each direction, or what the attributes say: alpha and
/// beta are consumed, in order, by the functions that have them.
template <class T, size_t kCount>
Result<std::vector<Activation<T>>> ReadActivations(
    const std::vector<std::string>& names, const std::vector<float>& alphas,
    const std::vector<float>& betas, std::optional<float> clip,
    const std::array<const char*, kCount>& defaults, size_t directions) {
  const size_t wanted = kCount * directions;
  if (!names.empty() && names.size() < wanted) {
    return InvalidArgument("activations has ", names.size(), " names, wanted ",
                           wanted);
  }
  std::vector<Activation<T>> made;
  size_t alpha = 0;
  size_t beta = 0;
  for (size_t i = 0; i < wanted; ++i) {
    const std::string name = names.empty() ? defaults[i % kCount] : names[i];
    const NamedActivation<T>* found = nullptr;
    for (const NamedActivation<T>& known : KnownActivations<T>()) {
      if (SameName(known.name, name)) found = &known;
    }
    if (found == nullptr) {
      return Unsupported(Reason::kAttribute, "activation '", name, "'");
    }
    const auto take = [](std::optional<float> otherwise,
                         const std::vector<float>& given, size_t& next) {
      if (!otherwise.has_value()) return 0.0F;
      return next < given.size() ? given[next++] : *otherwise;
    };
    const float a = take(found->alpha, alphas, alpha);
    const float b = take(found->beta, betas, beta);
    made.emplace_back(found->function, a, b, clip);
  }
  return made;
}

}  // namespace assay::reference

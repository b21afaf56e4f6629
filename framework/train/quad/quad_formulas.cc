// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <utility>

#include "framework/train/quad/quad.h"

namespace assay::quad {
namespace {

/// sqrt(square) + epsilon, or sqrt(square + epsilon).
struct Denominator {
  explicit Denominator(const Settings& settings)
      : epsilon(settings.Number("epsilon")),
        in_root(settings.Is("epsilon_at", "in_root")) {}

  Quad operator()(const Quad& square) const {
    return in_root ? Root(square + epsilon) : Root(square) + epsilon;
  }

  Quad epsilon;
  bool in_root;
};

/// Moves a running mean: mean = keep * mean + (1 - keep) * value.
Quad Moved(const Quad& mean, const Quad& keep, const Quad& value) {
  return keep * mean + (1 - keep) * value;
}

/// Sutskever, Martens, Dahl and Hinton, "On the importance of initialization
/// and momentum in deep learning" (2013), equations 1 to 4 (inside, ahead);
/// Keras' SGD (inside, folded); torch.optim.SGD (outside, folded, undampened).
class MomentumRule : public QuadRule {
 public:
  MomentumRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, SlotsOf(settings), n_parameters),
        origin_(n_parameters) {}

 private:
  static std::vector<std::string> SlotsOf(const Settings& settings) {
    if (settings.Number("momentum") == 0) return {};
    return {"velocity"};
  }

  void Lookahead(const ParameterStep& at, QuadTensor* x) override {
    if (!ahead_ || mu_ == 0) return;
    origin_[at.parameter] = *x;
    const QuadTensor& v = State(at.parameter, "velocity", x->size());
    for (size_t i = 0; i < x->size(); ++i) {
      (*x)[i] += inside_ ? mu_ * v[i] : -at.rate * mu_ * v[i];
    }
  }

  void GoBack(size_t parameter, QuadTensor* x) override {
    QuadTensor origin = std::exchange(origin_[parameter], {});
    if (origin.empty()) return;
    // An optimizer may go the same way back, with the roundings of both.
    for (size_t i = 0; i < x->size(); ++i) {
      origin[i].error += 2 * (*x)[i].error;
    }
    *x = std::move(origin);
  }

  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const Quad r = at.rate;
    if (mu_ == 0) {
      for (size_t i = 0; i < x->size(); ++i) (*x)[i] -= r * g[i];
      return;
    }
    const bool undampened = first_undampened_ && at.step == 1;
    const Quad part = undampened ? 1 : 1 - dampening_;
    QuadTensor& velocity = State(at.parameter, "velocity", x->size());
    for (size_t i = 0; i < x->size(); ++i) {
      Quad& v = velocity[i];
      if (inside_) {
        v = mu_ * v - r * part * g[i];
        (*x)[i] += folded_ ? mu_ * v - r * g[i] : v;
      } else {
        v = mu_ * v + part * g[i];
        (*x)[i] -= folded_ ? r * (g[i] + mu_ * v) : r * v;
      }
    }
  }

  const Quad mu_ = Number("momentum"), dampening_ = Number("dampening");
  const bool inside_ = Is("rate_at", "inside");
  const bool ahead_ = Is("nesterov", "ahead");
  const bool folded_ = Is("nesterov", "folded");
  const bool first_undampened_ = Is("first", "undampened");
  std::vector<QuadTensor> origin_;  // x before it went ahead
};

/// Kingma and Ba, "Adam: a method for stochastic optimization" (2015),
/// algorithm 1 (corrected moments), end of section 2 (corrected rate); ONNX's
/// Adam-1 (first_t 0). Reddi, Kale and Kumar, "On the convergence of Adam and
/// beyond" (2018), algorithm 2: the greatest second moment, corrected behind
/// the maximum as by torch.optim.Adam, or before as by optax.amsgrad.
class AdamRule : public QuadRule {
 public:
  AdamRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, SlotsOf(settings), n_parameters) {}

  static Result<std::unique_ptr<QuadRule>> Make(const Settings& settings,
                                                size_t n_parameters) {
    const double first_t = settings.Number("first_t");
    if (first_t != 0 && first_t != 1) {
      return InvalidArgument("found first_t ", first_t, ", wanted 0 or 1");
    }
    return std::make_unique<AdamRule>(settings, n_parameters);
  }

 private:
  static constexpr const char* kGreatest = "greatest_second_moment";

  static std::vector<std::string> SlotsOf(const Settings& settings) {
    std::vector<std::string> slots = {"first_moment", "second_moment"};
    if (!settings.Is("maximum", "none")) slots.emplace_back(kGreatest);
    return slots;
  }

  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const size_t n = x->size();
    const int64_t t = at.step - 1 + first_t_;
    const Quad bias1 = t == 0 ? 1 : 1 - Power(beta1_, t);
    const Quad bias2 = t == 0 ? 1 : 1 - Power(beta2_, t);
    const Quad r = correct_rate_ ? at.rate * Root(bias2) / bias1 : at.rate;
    QuadTensor& m = State(at.parameter, "first_moment", n);
    QuadTensor& v = State(at.parameter, "second_moment", n);
    for (size_t i = 0; i < n; ++i) {
      m[i] = Moved(m[i], beta1_, g[i]);
      v[i] = Moved(v[i], beta2_, g[i] * g[i]);
      const Quad m_hat = correct_moments_ ? m[i] / bias1 : m[i];
      const Quad v_hat =
          SecondMoment(at.parameter, i, v, correct_moments_ ? bias2 : 1);
      (*x)[i] -= r * m_hat / denominator_(v_hat);
    }
  }

  Quad SecondMoment(size_t parameter, size_t i, const QuadTensor& v,
                    Quad bias) {
    if (!maximum_before_ && !maximum_after_) return v[i] / bias;
    Quad& greatest = State(parameter, kGreatest, v.size())[i];
    if (maximum_before_) {
      greatest = Max(greatest, v[i]);
      return greatest / bias;
    }
    greatest = Max(greatest, v[i] / bias);
    return greatest;
  }

  const Quad beta1_ = Number("beta1"), beta2_ = Number("beta2");
  const Denominator denominator_{settings()};
  const bool correct_moments_ = Is("correction", "moments");
  const bool correct_rate_ = Is("correction", "rate");
  const bool maximum_before_ = Is("maximum", "before");
  const bool maximum_after_ = Is("maximum", "after");
  const int64_t first_t_ = Number("first_t") == 0 ? 0 : 1;
};

/// Duchi, Hazan and Singer, "Adaptive subgradient methods" (2011), figure 1
/// with a diagonal matrix; rate_decay as lr_decay of torch.optim.Adagrad and
/// decay_factor of ONNX's Adagrad-1.
class AdagradRule : public QuadRule {
 public:
  AdagradRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, {"sum_of_squares"}, n_parameters) {}

 private:
  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const size_t n = x->size();
    const Quad r = at.rate / (1 + Quad(at.step - 1) * rate_decay_);
    QuadTensor& sum = State(at.parameter, "sum_of_squares", n, initial_);
    for (size_t i = 0; i < n; ++i) {
      sum[i] += g[i] * g[i];
      (*x)[i] -= r * g[i] / denominator_(sum[i]);
    }
  }

  const Denominator denominator_{settings()};
  const double initial_ = Number("initial");
  const Quad rate_decay_ = Number("rate_decay");
};

/// Zeiler, "ADADELTA: an adaptive learning rate method" (2012), algorithm 1,
/// where the rate is 1; the rate as in torch.optim.Adadelta.
class AdadeltaRule : public QuadRule {
 public:
  AdadeltaRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, {"mean_square", "mean_square_step"}, n_parameters) {}

 private:
  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const size_t n = x->size();
    QuadTensor& of_g = State(at.parameter, "mean_square", n);
    QuadTensor& of_step = State(at.parameter, "mean_square_step", n);
    for (size_t i = 0; i < n; ++i) {
      of_g[i] = Moved(of_g[i], rho_, g[i] * g[i]);
      const Quad d =
          Root(of_step[i] + epsilon_) / Root(of_g[i] + epsilon_) * g[i];
      of_step[i] = Moved(of_step[i], rho_, d * d);
      (*x)[i] -= at.rate * d;
    }
  }

  const Quad rho_ = Number("rho"), epsilon_ = Number("epsilon");
};

/// Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning"
/// (2012). Centered: Graves, "Generating sequences with recurrent neural
/// networks" (2013), equations 38 to 41, without his factors. Momentum outside
/// as torch.optim.RMSprop's, inside as Keras' and TensorFlow's.
class RmspropRule : public QuadRule {
 public:
  RmspropRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, SlotsOf(settings), n_parameters) {}

 private:
  static std::vector<std::string> SlotsOf(const Settings& settings) {
    std::vector<std::string> slots = {"mean_square"};
    if (settings.Number("momentum") != 0) slots.emplace_back("velocity");
    if (settings.Is("centered", "yes")) slots.emplace_back("mean");
    return slots;
  }

  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const size_t n = x->size();
    QuadTensor& square = State(at.parameter, "mean_square", n, initial_);
    for (size_t i = 0; i < n; ++i) {
      square[i] = Moved(square[i], rho_, g[i] * g[i]);
      Quad variance = square[i];
      if (centered_) {
        Quad& mean = State(at.parameter, "mean", n)[i];
        mean = Moved(mean, rho_, g[i]);
        variance -= mean * mean;
      }
      const Quad u = g[i] / denominator_(variance);
      (*x)[i] -= Distance(at, i, n, u);
    }
  }

  /// How far the momentum takes element i of n, u being its scaled gradient.
  Quad Distance(const ParameterStep& at, size_t i, size_t n, Quad u) {
    if (mu_ == 0) return at.rate * u;
    Quad& v = State(at.parameter, "velocity", n)[i];
    v = mu_ * v + (inside_ ? at.rate * u : u);
    return inside_ ? v : at.rate * v;
  }

  const Quad rho_ = Number("rho"), mu_ = Number("momentum");
  const double initial_ = Number("initial");
  const Denominator denominator_{settings()};
  const bool inside_ = Is("rate_at", "inside");
  const bool centered_ = Is("centered", "yes");
};

/// Levy, Yurtsever and Cevher, "Online adaptive methods, universality and
/// acceleration" (2018), algorithm 2, without the projection. The parameter is
/// y between steps, and x from Prepare to Update.
class AccelegradRule : public QuadRule {
 public:
  AccelegradRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, {"z", "sum_of_squares"}, n_parameters) {}

 private:
  /// alpha_t with t from 0: 1 up to 2, and (t + 1) / 4 from 3.
  static Quad Alpha(int64_t step) {
    const int64_t t = step - 1;
    return t <= 2 ? Quad(1) : Quad(t + 1) / 4;
  }

  QuadTensor& Z(size_t parameter, const QuadTensor& first) {
    QuadTensor& z = *Slot(parameter, "z");
    if (z.empty()) z = first;
    return z;
  }

  void Lookahead(const ParameterStep& at, QuadTensor* y) override {
    const Quad tau = 1 / Alpha(at.step);
    const QuadTensor& z = Z(at.parameter, *y);
    for (size_t i = 0; i < y->size(); ++i) {
      (*y)[i] = tau * z[i] + (1 - tau) * (*y)[i];
    }
  }

  void Observe(const std::vector<QuadTensor>& gradients) override {
    squared_norms_.clear();
    Quad sum = 0;
    for (const QuadTensor& g : gradients) {
      squared_norms_.push_back(SumOfSquares(g));
      sum += squared_norms_.back();
    }
    if (over_all_) squared_norms_.assign(gradients.size(), sum);
  }

  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const Quad alpha = Alpha(at.step);
    QuadTensor& z = Z(at.parameter, *x);
    Quad& sum = State(at.parameter, "sum_of_squares", 1)[0];
    sum += alpha * alpha * squared_norms_[at.parameter];
    const Quad eta = at.rate * 2 * diameter_ / Root(bound_ * bound_ + sum);
    for (size_t i = 0; i < x->size(); ++i) {
      z[i] -= alpha * eta * g[i];
      (*x)[i] -= eta * g[i];
    }
  }

  const Quad diameter_ = Number("diameter"), bound_ = Number("bound");
  const bool over_all_ = Is("norm_over", "all");
  std::vector<Quad> squared_norms_;  // for each parameter, of this step
};

/// You et al., "Large batch optimization for deep learning: training BERT in 76
/// minutes" (2020), algorithm 2, phi(|x|) being |x| within [least, most].
class LambRule : public QuadRule {
 public:
  LambRule(const Settings& settings, size_t n_parameters)
      : QuadRule(settings, {"first_moment", "second_moment"}, n_parameters) {}

 private:
  void Step(const ParameterStep& at, const QuadTensor& g,
            QuadTensor* x) override {
    const QuadTensor u = Direction(at, g, *x);
    const Quad norm = Root(SumOfSquares(*x));
    const Quad phi = Min(Max(norm, least_), most_);
    const Quad length = Root(SumOfSquares(u));
    const Quad ratio = phi == 0 || length == 0 ? 1 : phi / length;
    for (size_t i = 0; i < x->size(); ++i) {
      (*x)[i] -= at.rate * ratio * u[i];
    }
  }

  /// m' / (sqrt(v') + epsilon) + d x, of corrected moments.
  QuadTensor Direction(const ParameterStep& at, const QuadTensor& g,
                       const QuadTensor& x) {
    const size_t n = x.size();
    const Quad bias1 = 1 - Power(beta1_, at.step);
    const Quad bias2 = 1 - Power(beta2_, at.step);
    QuadTensor& m = State(at.parameter, "first_moment", n);
    QuadTensor& v = State(at.parameter, "second_moment", n);
    QuadTensor u(n);
    for (size_t i = 0; i < n; ++i) {
      m[i] = Moved(m[i], beta1_, g[i]);
      v[i] = Moved(v[i], beta2_, g[i] * g[i]);
      u[i] = m[i] / bias1 / (Root(v[i] / bias2) + epsilon_) +
             at.decay_in_rule * x[i];
    }
    return u;
  }

  const Quad beta1_ = Number("beta1"), beta2_ = Number("beta2");
  const Quad epsilon_ = Number("epsilon");
  const Quad least_ = Number("least"), most_ = Number("most");
};

template <class Rule>
Result<std::unique_ptr<QuadRule>> MakeRule(const Settings& settings,
                                           size_t n_parameters) {
  return std::make_unique<Rule>(settings, n_parameters);
}

/// Where a decay that is not given is coupled, has to be given, or may be the
/// formula's own too.
enum class DecayIs : uint8_t { kCoupled, kGiven, kGivenOrOwn };

/// The settings that every optimizer has, and more.
std::vector<Setting> WithCommon(std::vector<Setting> own,
                                DecayIs decay = DecayIs::kCoupled) {
  std::vector<Setting> settings = {
      {"rate", ""},
      {"weight_decay", "0"},
      {"decay",
       decay == DecayIs::kCoupled ? "coupled" : "",
       {"coupled", "by_rate", "by_schedule", "after"}},
      {"clip_value", "inf"},
      {"clip_norm", "inf"},
  };
  if (decay == DecayIs::kGivenOrOwn) settings[2].words.push_back("in_rule");
  settings.insert(settings.end(), own.begin(), own.end());
  return settings;
}

Setting EpsilonAt() {
  return {"epsilon_at", "after_root", {"after_root", "in_root"}};
}

Setting RateAt() { return {"rate_at", "outside", {"outside", "inside"}}; }

/// Empty texts of what is not given: it has to be.
std::vector<Setting> MomentumSettings(std::string_view momentum,
                                      std::string_view nesterov) {
  return WithCommon({
      {"momentum", momentum},
      {"dampening", "0"},
      RateAt(),
      {"nesterov", nesterov, {"none", "ahead", "folded"}},
      {"first", "as_others", {"as_others", "undampened"}},
  });
}

std::vector<Setting> AdamSettings(std::string_view maximum,
                                  DecayIs decay = DecayIs::kCoupled) {
  return WithCommon(
      {
          {"beta1", ""},
          {"beta2", ""},
          {"epsilon", ""},
          EpsilonAt(),
          {"correction", "moments", {"moments", "rate", "none"}},
          {"maximum", maximum, {"none", "before", "after"}},
          {"first_t", "1"},
      },
      decay);
}

}  // namespace

const std::vector<Formula>& Formulas() {
  static const std::vector<Formula> formulas = {
      {"gradient_descent", MomentumSettings("0", "none"),
       MakeRule<MomentumRule>},
      {"momentum", MomentumSettings("", "none"), MakeRule<MomentumRule>},
      {"nesterov", MomentumSettings("", ""), MakeRule<MomentumRule>},
      {"adam", AdamSettings("none"), AdamRule::Make},
      {"amsgrad", AdamSettings(""), AdamRule::Make},
      {"adamw", AdamSettings("none", DecayIs::kGiven), AdamRule::Make},
      {"adagrad",
       WithCommon({{"epsilon", ""},
                   EpsilonAt(),
                   {"initial", "0"},
                   {"rate_decay", "0"}}),
       MakeRule<AdagradRule>},
      {"adadelta", WithCommon({{"rho", ""}, {"epsilon", ""}}),
       MakeRule<AdadeltaRule>},
      {"rmsprop",
       WithCommon({{"rho", ""},
                   {"initial", "0"},
                   {"epsilon", ""},
                   EpsilonAt(),
                   {"momentum", "0"},
                   RateAt(),
                   {"centered", "no", {"no", "yes"}}}),
       MakeRule<RmspropRule>},
      {"accelegrad",
       WithCommon({{"diameter", ""},
                   {"bound", ""},
                   {"norm_over", "all", {"all", "parameter"}}}),
       MakeRule<AccelegradRule>},
      {"lamb",
       WithCommon({{"beta1", ""},
                   {"beta2", ""},
                   {"epsilon", ""},
                   {"least", "0"},
                   {"most", "inf"}},
                  DecayIs::kGivenOrOwn),
       MakeRule<LambRule>},
  };
  return formulas;
}

Result<std::unique_ptr<QuadRule>> MakeQuadRule(std::string_view optimizer,
                                               const SettingTexts& settings,
                                               size_t n_parameters) {
  const std::vector<Formula>& all = Formulas();
  const auto formula = std::ranges::find(all, optimizer, &Formula::optimizer);
  if (formula == all.end()) {
    return InvalidArgument("found optimizer ", optimizer, ", wanted one of ",
                           Joined(all, ", ", &Formula::optimizer));
  }
  auto read = Settings::Read(formula->settings, settings);
  if (!read.ok()) return read.status().WithContext(optimizer);
  auto rule = formula->make(*read, n_parameters);
  if (!rule.ok()) return rule.status().WithContext(optimizer);
  return rule;
}

}  // namespace assay::quad

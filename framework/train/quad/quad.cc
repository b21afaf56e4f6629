// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/quad.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace assay::quad {
namespace {

constexpr double kRoundoff32 = 0x1p-24, kRoundoff64 = 0x1p-53;

/// A float64 less what is wanted needs the digits of quad. A float32 does not:
/// the 2^-53 that are lost are nothing beside its own 2^-24.
double Minus(double got, const Quad& want) {
  return static_cast<double>(got - want.value);
}
double Minus(float got, const Quad& want) {
  return got - static_cast<double>(want);
}

/// Holds one element beside its limit.
void Limit(const Quad& want, size_t at, double off, Spread* spread) {
  double limit = LimitOf(want);
  if (!std::isfinite(limit)) {
    ++spread->unknown;
    if (std::isfinite(off)) return;
    limit = 0;  // NaN and infinity are seen all the same
  }
  spread->explained += limit * limit;
  const double share = off == 0 ? 0 : off / limit;
  // NaN is beyond every limit, and stays.
  if (at > 0 && (share <= spread->share || std::isnan(spread->share))) return;
  spread->share = share;
  spread->nearest = at;
  spread->off = off;
  spread->limit = limit;
}

template <class T>
Spread Measure(std::span<const T> got, const QuadTensor& want) {
  Spread spread;
  double squares = 0;
  double of_wanted = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double off = std::abs(Minus(got[i], want[i]));
    const double wanted = Size(want[i].value);
    squares += off * off;
    of_wanted += wanted * wanted;
    // NaN is beyond every number, and stays.
    if (!(off <= spread.linf) && !std::isnan(spread.linf)) spread.linf = off;
    spread.greatest = std::max(spread.greatest, wanted);
    Limit(want[i], i, off, &spread);
  }
  spread.l2 = std::sqrt(squares);
  spread.norm = std::sqrt(of_wanted);
  spread.explained = std::sqrt(spread.explained);
  return spread;
}

Result<double> NumberOf(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || std::isnan(number)) {
    return InvalidArgument("found \"", text, "\", wanted a number");
  }
  return number;
}

/// Each text has to be of a setting that is known, and the only one.
Status CheckNames(const std::vector<Setting>& known,
                  const SettingTexts& texts) {
  for (const auto& [name, text] : texts) {
    const auto is_named = [&name = name](const auto& a) {
      return a.first == name;
    };
    if (std::ranges::count(known, name, &Setting::name) == 0) {
      return InvalidArgument("found setting ", name, ", wanted one of ",
                             Joined(known, ", ", &Setting::name));
    }
    if (std::ranges::count_if(texts, is_named) > 1) {
      return InvalidArgument("found setting ", name, " twice, wanted it once");
    }
  }
  return OkStatus();
}

/// The bound of a clip that there is not.
constexpr double kNone = std::numeric_limits<double>::infinity();

/// target += factor * other, which may be the target; nothing for a factor of
/// 0, whatever `other` holds.
void AddScaled(const Quad& factor, const QuadTensor& other,
               QuadTensor* target) {
  if (factor == 0) return;
  for (size_t i = 0; i < target->size(); ++i) {
    (*target)[i] += factor * other[i];
  }
}

void Scale(const Quad& factor, QuadTensor* target) {
  for (Quad& element : *target) element *= factor;
}

}  // namespace

QuadTensor InQuad(const Tensor& tensor) {
  const auto in_quad = [](const auto& numbers, double roundoff) {
    QuadTensor all;
    all.reserve(numbers.size());
    for (const double x : numbers) all.push_back(Quad::Of(x, roundoff));
    return all;
  };
  return tensor.dtype() == DType::kFloat32
             ? in_quad(tensor.elements<float>(), kRoundoff32)
             : in_quad(tensor.elements<double>(), kRoundoff64);
}

std::vector<QuadTensor> InQuad(std::span<const Tensor> tensors) {
  std::vector<QuadTensor> all;
  for (const Tensor& tensor : tensors) all.push_back(InQuad(tensor));
  return all;
}

std::vector<QuadTensor> InQuad(std::span<const train::Parameter> parameters) {
  std::vector<QuadTensor> all;
  for (const auto& parameter : parameters)
    all.push_back(InQuad(parameter.value));
  return all;
}

Spread SpreadOf(const Tensor& got, const QuadTensor& want) {
  return got.dtype() == DType::kFloat32 ? Measure(got.elements<float>(), want)
                                        : Measure(got.elements<double>(), want);
}

Result<Settings> Settings::Read(const std::vector<Setting>& known,
                                const SettingTexts& texts) {
  ASSAY_RETURN_IF_ERROR(CheckNames(known, texts));
  Settings settings;
  for (const Setting& setting : known) {
    std::string text(setting.otherwise);
    bool given = !text.empty();
    for (const auto& [name, given_text] : texts) {
      if (name != setting.name) continue;
      text = given_text;
      given = true;
    }
    if (!given) {
      return InvalidArgument("found no setting ", setting.name,
                             ", wanted it given");
    }
    ASSAY_RETURN_IF_ERROR(
        settings.Add(setting, text).WithContext(setting.name));
  }
  return settings;
}

double Settings::Number(std::string_view name) const {
  return numbers_.find(name)->second;
}

bool Settings::Is(std::string_view name, std::string_view word) const {
  return words_.find(name)->second == word;
}

Status Settings::Add(const Setting& setting, const std::string& text) {
  if (setting.words.empty()) {
    ASSAY_ASSIGN_OR_RETURN(const double number, NumberOf(text));
    numbers_.emplace(setting.name, number);
    return OkStatus();
  }
  if (std::ranges::count(setting.words, text) == 0) {
    return InvalidArgument("found \"", text, "\", wanted one of ",
                           Joined(setting.words));
  }
  words_.emplace(setting.name, text);
  return OkStatus();
}

QuadRule::QuadRule(const Settings& settings,
                   const std::vector<std::string>& slots, size_t n_parameters)
    : settings_(settings), slots_(n_parameters) {
  for (auto& of_parameter : slots_) {
    for (const std::string& name : slots) of_parameter[name];
  }
}

void QuadRule::Prepare(const StepInfo& at, std::vector<QuadTensor>* x) {
  for (size_t p = 0; p < x->size(); ++p) {
    Lookahead(ParameterStepOf(at, p), &(*x)[p]);
  }
}

void QuadRule::Update(const StepInfo& at, std::vector<QuadTensor> gradients,
                      std::vector<QuadTensor>* x) {
  ClipByValue(&gradients);
  ClipByNorm(&gradients);
  for (size_t p = 0; p < x->size(); ++p) {
    QuadTensor& weights = (*x)[p];
    if (decay_ == Decay::kCoupled) {
      AddScaled(weight_decay_, weights, &gradients[p]);
    }
    GoBack(p, &weights);
    AddScaled(-ShrinkageBefore(at), weights, &weights);
  }
  Observe(gradients);
  for (size_t p = 0; p < x->size(); ++p) {
    Step(ParameterStepOf(at, p), gradients[p], &(*x)[p]);
    if (decay_ == Decay::kAfter) Scale(1 - Quad(weight_decay_), &(*x)[p]);
  }
}

QuadTensor* QuadRule::Slot(size_t parameter, std::string_view name) {
  if (parameter >= slots_.size()) return nullptr;
  const auto slot = slots_[parameter].find(name);
  return slot == slots_[parameter].end() ? nullptr : &slot->second;
}

QuadTensor& QuadRule::State(size_t parameter, std::string_view name,
                            size_t size, double element) {
  QuadTensor& slot = *Slot(parameter, name);
  if (slot.empty()) slot.assign(size, element);
  return slot;
}

QuadRule::Decay QuadRule::DecayOf(const Settings& settings) {
  if (settings.Is("decay", "coupled")) return Decay::kCoupled;
  if (settings.Is("decay", "by_rate")) return Decay::kByRate;
  if (settings.Is("decay", "by_schedule")) return Decay::kBySchedule;
  if (settings.Is("decay", "after")) return Decay::kAfter;
  return Decay::kInRule;
}

QuadRule::ParameterStep QuadRule::ParameterStepOf(const StepInfo& at,
                                                  size_t parameter) const {
  const double in_rule = decay_ == Decay::kInRule ? weight_decay_ : 0;
  return {parameter, at.step, rate_ * at.schedule, in_rule};
}

void QuadRule::ClipByValue(std::vector<QuadTensor>* gradients) const {
  if (clip_value_ == kNone) return;
  const Quad c = clip_value_;
  for (QuadTensor& gradient : *gradients) {
    for (Quad& g : gradient) g = Max(Min(g, c), -c);
  }
}

void QuadRule::ClipByNorm(std::vector<QuadTensor>* gradients) const {
  if (clip_norm_ == kNone) return;
  Quad sum = 0;
  for (const QuadTensor& gradient : *gradients) sum += SumOfSquares(gradient);
  const Quad norm = Root(sum);
  if (!(norm > clip_norm_)) return;
  for (QuadTensor& gradient : *gradients) Scale(clip_norm_ / norm, &gradient);
}

Quad QuadRule::ShrinkageBefore(const StepInfo& at) const {
  const Quad d = weight_decay_;
  if (decay_ == Decay::kByRate) return rate_ * at.schedule * d;
  if (decay_ == Decay::kBySchedule) return at.schedule * d;
  return 0;
}

}  // namespace assay::quad

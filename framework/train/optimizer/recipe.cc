// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <system_error>

#include "framework/train/optimizer/in_place.h"

namespace assay::train {
namespace {

/// How much of `steps` lies behind at the beginning of a step: 0 to 1.
double DoneOf(int64_t step, int64_t steps) {
  return std::min(1.0, static_cast<double>(step - 1) /
                           static_cast<double>(std::max<int64_t>(steps, 1)));
}

std::string ToText(double number) {
  std::array<char, 32> text = {};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

Status ReadNumber(std::string_view text, const Range& range, double* value) {
  double number = 0;
  const auto read =
      std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole =
      read.ec == std::errc() && read.ptr == text.data() + text.size();
  const bool is_below =
      number < range.below || std::isinf(range.below);  // NaN is not >= least
  if (!whole || !(number >= range.least) || !is_below) {
    return InvalidArgument("found '", text, "', wanted a number in [",
                           range.least, ", ", range.below, ")");
  }
  *value = number;
  return OkStatus();
}

}  // namespace

Schedule ConstantSchedule() {
  return [](int64_t) { return 1.0; };
}

Schedule StepSchedule(double factor, std::vector<int64_t> after) {
  return [factor, after = std::move(after)](int64_t step) {
    const auto done = std::ranges::count_if(
        after, [step](int64_t last) { return last < step; });
    return std::pow(factor, static_cast<double>(done));
  };
}

Schedule ExponentialSchedule(double factor) {
  return [factor](int64_t step) {
    return std::pow(factor, static_cast<double>(step - 1));
  };
}

Schedule CosineSchedule(int64_t steps, double last) {
  return [steps, last](int64_t step) {
    const double turned = std::cos(std::numbers::pi * DoneOf(step, steps));
    return last + (1 - last) * (1 + turned) / 2;
  };
}

Schedule PolynomialSchedule(int64_t steps, double power) {
  return [steps, power](int64_t step) {
    return std::pow(1 - DoneOf(step, steps), power);
  };
}

Schedule AfterWarmup(int64_t steps, Schedule schedule) {
  return [steps, schedule = std::move(schedule)](int64_t step) {
    if (step > steps) return schedule(step - steps);
    return static_cast<double>(step) / static_cast<double>(steps);
  };
}

Result<double> SquaredNorm(std::span<const Tensor> gradients) {
  double sum = 0;
  for (Tensor gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&](const auto& each) {
          for (const double g : each.g) sum += g * g;
        }));
  }
  return sum;
}

Status ClipGradients(const Clip& clip, std::span<Tensor> gradients) {
  for (Tensor& gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&]<class T>(const Elements<T>& each) {
          const auto most = static_cast<T>(clip.value);
          for (T& g : each.x) g = std::clamp(g, -most, most);
        }));
  }
  if (std::isinf(clip.norm)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const double squares, SquaredNorm(gradients));
  const double norm = std::sqrt(squares);
  if (!(norm > clip.norm)) return OkStatus();
  for (Tensor& gradient : gradients) {
    ASSAY_RETURN_IF_ERROR(
        InPlace(&gradient, gradient, {}, [&]<class T>(const Elements<T>& each) {
          const auto scale = static_cast<T>(clip.norm / norm);
          for (T& g : each.x) g *= scale;
        }));
  }
  return OkStatus();
}

Result<std::vector<Group>> GroupsOf(const Recipe& recipe,
                                    std::span<const std::string> parameters) {
  std::vector<Group> groups(parameters.size(),
                            Group{{}, 1, recipe.weight_decay});
  std::vector<bool> is_said(parameters.size(), false);
  for (const Group& group : recipe.groups) {
    for (const std::string& name : group.names) {
      const auto found = std::ranges::find(parameters, name);
      if (found == parameters.end()) {
        return InvalidArgument("a group names the parameter '", name,
                               "', wanted one of ", Joined(parameters));
      }
      const auto place = static_cast<size_t>(found - parameters.begin());
      if (is_said[place]) {
        return InvalidArgument("two groups name the parameter '", name, "'");
      }
      is_said[place] = true;
      groups[place] = {{name},
                       group.rate_scale,
                       group.weight_decay.value_or(recipe.weight_decay)};
    }
  }
  return groups;
}

void Settings::Add(std::string_view name, double* value, Range range) {
  settings_.push_back({std::string(name), [value] { return ToText(*value); },
                       [value, range](std::string_view text) {
                         return ReadNumber(text, range, value);
                       }});
}

void Settings::AddWords(std::string_view name,
                        std::span<const std::string_view> words,
                        std::function<size_t()> read,
                        std::function<void(size_t)> write) {
  settings_.push_back(
      {std::string(name),
       [words, read = std::move(read)] { return std::string(words[read()]); },
       [words, write = std::move(write)](std::string_view text) -> Status {
         const auto found = std::ranges::find(words, text);
         if (found == words.end()) {
           return InvalidArgument("found '", text, "', wanted ",
                                  Joined(words, " or "));
         }
         write(static_cast<size_t>(found - words.begin()));
         return OkStatus();
       }});
}

Status Settings::Set(std::string_view assignment) {
  std::string_view value = assignment;
  const std::string_view name = CutFront(&value, "=");
  const auto found = std::ranges::find(settings_, name, &Setting::name);
  if (found == settings_.end()) {
    return InvalidArgument("found the setting '", name, "', wanted ",
                           settings_.empty()
                               ? std::string("none")
                               : Joined(settings_, ", ", &Setting::name));
  }
  return found->write(value).WithContext(name);
}

Status Settings::SetAll(std::string_view assignments) {
  std::vector<std::string_view> names;
  while (!assignments.empty()) {
    const std::string_view assignment = CutFront(&assignments, " ");
    if (assignment.empty()) continue;
    const std::string_view name = assignment.substr(0, assignment.find('='));
    if (std::ranges::count(names, name) > 0) {
      return InvalidArgument("found the setting '", name,
                             "' twice, wanted it once");
    }
    names.push_back(name);
    ASSAY_RETURN_IF_ERROR(Set(assignment));
  }
  return OkStatus();
}

std::vector<std::pair<std::string, std::string>> Settings::Values() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Setting& setting : settings_) {
    values.emplace_back(setting.name, setting.read());
  }
  return values;
}

}  // namespace assay::train

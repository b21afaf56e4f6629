// SPDX-License-Identifier: Apache-2.0
//
// Settings: the numbers and words of an optimizer by name, so that a preset is
// data and a user can set each of them.
//
//   Settings settings;
//   settings.Add("beta1", &adam.beta1, {.least = 0, .below = 1});
//   settings.Add("epsilon_at", &adam.epsilon_at, kEpsilonWords);
//   ASSAY_RETURN_IF_ERROR(settings.Set("beta1=0.95"));

#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"

namespace assay::train {

/// The numbers that a setting may have.
struct Range {
  double least = 0;
  double below = std::numeric_limits<double>::infinity();
};

/// It writes to what was added, which must live as long as it does.
class Settings {
 public:
  void Add(std::string_view name, double* value, Range range = {});

  /// An enum whose values count from 0, with a word for each.
  template <class Enum>
  void Add(std::string_view name, Enum* value,
           std::span<const std::string_view> words) {
    AddWords(
        name, words, [value] { return static_cast<size_t>(*value); },
        [value](size_t word) { *value = static_cast<Enum>(word); });
  }

  /// "NAME=VALUE". Invalid argument for a name that there is not, for what is
  /// no number or outside its range, and for another word; it says which there
  /// are.
  Status Set(std::string_view assignment);
  /// Several, with spaces between them.
  Status SetAll(std::string_view assignments);

  /// The names and what they are now, in the order of their addition. A number
  /// reads back as itself.
  std::vector<std::pair<std::string, std::string>> Values() const;

 private:
  struct Setting {
    std::string name;
    std::function<std::string()> read;
    std::function<Status(std::string_view)> write;
  };

  void AddWords(std::string_view name, std::span<const std::string_view> words,
                std::function<size_t()> read,
                std::function<void(size_t)> write);

  std::vector<Setting> settings_;
};

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/quad/quad_setting.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay::quad {
namespace {

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

}  // namespace

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

}  // namespace assay::quad

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optimizer/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay::train {
namespace {

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
  while (!assignments.empty()) {
    const std::string_view assignment = CutFront(&assignments, " ");
    if (assignment.empty()) continue;
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

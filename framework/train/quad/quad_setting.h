// SPDX-License-Identifier: Apache-2.0
//
// Settings of an optimizer, read from texts: numbers and words by name.
//
//   const std::vector<Setting> known = {
//       {"rate", ""}, {"epsilon_at", "after_root", {"after_root", "in_root"}}};
//   ASSAY_ASSIGN_OR_RETURN(const Settings settings,
//                          Settings::Read(known, {{"rate", "0.1"}}));
//   settings.Number("rate");                    // the double nearest to 0.1
//   settings.Is("epsilon_at", "after_root");    // true

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"

namespace assay::quad {

/// Numbers and words of an optimizer by name, as text.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;

/// A setting that an optimizer has.
struct Setting {
  std::string_view name;
  /// The text of a setting that is not given; empty: it has to be given.
  std::string_view otherwise;
  /// The words that it may be; none: it is a number.
  std::vector<std::string_view> words = {};
};

/// The values of all settings of an optimizer. May be read by many threads.
class Settings {
 public:
  /// A number is a decimal text of a double, or "inf". Invalid argument for a
  /// name that is not known or comes twice, for a text that is no number or
  /// none of the words, and where a setting is missing.
  static Result<Settings> Read(const std::vector<Setting>& known,
                               const SettingTexts& texts);

  /// Both need a setting that is known, of that kind.
  double Number(std::string_view name) const;
  bool Is(std::string_view name, std::string_view word) const;

 private:
  Settings() = default;
  Status Add(const Setting& setting, const std::string& text);

  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> words_;
};

}  // namespace assay::quad

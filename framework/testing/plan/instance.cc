// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/instance.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace assay::plan {
namespace {

Status AddSetting(std::string_view setting, Instance* instance) {
  const size_t equals = setting.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidArgument("backend ", instance->instance,
                           ": found the setting '", setting,
                           "', wanted name=value");
  }
  const std::string key(setting.substr(0, equals));
  if (!instance->settings.emplace(key, setting.substr(equals + 1)).second) {
    return InvalidArgument("backend ", instance->instance, ": the setting ",
                           key, " is given twice");
  }
  return OkStatus();
}

}  // namespace

Result<Instance> ParseInstance(std::string_view text) {
  Instance instance;
  instance.instance = text;
  instance.stem = text.substr(0, text.find('+'));
  const size_t at = std::min(instance.stem.find('@'), instance.stem.size());
  instance.name = instance.stem.substr(0, at);
  if (instance.name.empty()) {
    return InvalidArgument("backend '", text, "' has no name");
  }
  if (at < instance.stem.size()) {
    instance.version = instance.stem.substr(at + 1);
    if (instance.version.empty()) {
      return InvalidArgument("backend '", text, "' has no version after the @");
    }
  }
  size_t plus = text.find('+');
  while (plus != std::string_view::npos) {
    const size_t next = text.find('+', plus + 1);
    ASSAY_RETURN_IF_ERROR(
        AddSetting(text.substr(plus + 1, next - plus - 1), &instance));
    plus = next;
  }
  if (auto ranks = instance.settings.extract("ranks"); !ranks.empty()) {
    instance.carrier = std::move(ranks.mapped());
    if (instance.carrier.empty()) {
      return InvalidArgument("backend ", text,
                             ": found no name behind ranks=, wanted a library "
                             "that carries messages between ranks");
    }
  }
  const auto setting = [&](const char* key, const char* otherwise) {
    const auto found = instance.settings.find(key);
    return found == instance.settings.end() ? otherwise : found->second;
  };
  instance.settings_text =
      StrCat(setting("device", "cpu"), ":", setting("precision", "f32"), ":",
             setting("opt", "all"), ":", setting("threads", "1"));
  return instance;
}

std::string FileNameOf(std::string_view instance) {
  std::string name(instance);
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_.+=@-").find(static_cast<char>(c)) !=
               std::string_view::npos;
  };
  std::ranges::replace_if(
      name, [&](char c) { return !plain(c); }, '_');
  return name;
}

}  // namespace assay::plan

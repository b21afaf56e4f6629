// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/hostile/behaviour.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ctest/trial/hostile/assay_run.h"
#include "framework/core/text.h"

namespace assay::hostile {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, std::string Behaviour::*> kKeys[] = {
    {"Outcome", &Behaviour::outcome}, {"Message", &Behaviour::message},
    {"Backend", &Behaviour::backend}, {"Tries", &Behaviour::tries},
    {"Noted", &Behaviour::noted},     {"At", &Behaviour::at},
    {"Case", &Behaviour::test_id},    {"Timeout", &Behaviour::timeout},
    {"Memory", &Behaviour::memory},   {"Scope", &Behaviour::scope},
    {"Needs", &Behaviour::needs},
};

/// Takes a line of a comment that gives a value.
void Take(std::string_view line, Behaviour* behaviour) {
  for (const auto& [key, member] : kKeys) {
    const std::string start = StrCat("// ", key, ": ");
    if (line.starts_with(start)) {
      behaviour->*member = line.substr(start.size());
    }
  }
}

std::vector<Behaviour> BehavioursOf(const fs::path& file) {
  constexpr std::string_view kBegins = "ASSAY_MISDEED(";
  std::vector<Behaviour> behaviours;
  Behaviour next;
  const std::string text = TextOf(file);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = CutFront(&rest);
    if (line.empty()) {
      next = {};
    } else if (line.starts_with(kBegins)) {
      std::string_view name = line.substr(kBegins.size());
      if (name.empty()) name = CutFront(&rest);  // as clang-format breaks it
      name.remove_prefix(name.find_first_not_of(' '));
      next.name = name.substr(0, name.find_first_of(",)"));
      next.module = file.stem() == "at_load" ? next.name : file.stem().string();
      behaviours.push_back(std::exchange(next, {}));
    } else {
      Take(line, &next);
    }
  }
  return behaviours;
}

}  // namespace

std::string Behaviour::settings() const {
  return StrCat(module == name ? "" : StrCat("+act=", name), "+at=", at);
}

std::vector<Behaviour> BehavioursIn(const fs::path& folder) {
  std::vector<Behaviour> behaviours;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cc") continue;
    std::ranges::move(BehavioursOf(entry.path()),
                      std::back_inserter(behaviours));
  }
  std::ranges::sort(behaviours, {}, &Behaviour::name);
  return behaviours;
}

Behaviour BehaviourNamed(const std::string& name) {
  for (Behaviour& each : BehavioursIn(ASSAY_BEHAVIOURS)) {
    if (each.name == name) return std::move(each);
  }
  ADD_FAILURE() << "there is no behaviour " << name;
  return {};
}

}  // namespace assay::hostile

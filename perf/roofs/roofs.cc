// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/roofs.h"

#include <algorithm>
#include <utility>

#include "framework/core/text.h"

namespace assay::roofs {

Roof Roofs::MeasureOne(const RoofName& name, std::string moment) {
  Roof roof = {.name = name};
  const std::vector<Level> levels = Levels(name.threads);
  const auto level = std::ranges::find(levels, name.level, &Level::name);
  if (name.level == kCompute) {
    roof = measure_(name, nullptr);
  } else if (level == levels.end()) {
    roof.none = StrCat("this machine has no ", name.level);
  } else if (level->probed == 0) {
    roof.none = level->none;
  } else {
    roof = measure_(name, &*level);
  }
  roof.moment = std::move(moment);
  new_.push_back(roof);
  return roof;
}

const Roof& Roofs::Of(const RoofName& name) {
  const auto found = roofs_.find(name);
  if (found != roofs_.end()) return found->second;
  return roofs_[name] = MeasureOne(name, "start");
}

const Roof& Roofs::Again(const RoofName& name) {
  Roof again = MeasureOne(name, "again");
  Roof& kept = roofs_[name];
  const auto median = [](const Roof& roof) {
    return roof.rate.has_value() ? roof.rate->median : 0;
  };
  if (median(again) > median(kept)) kept = std::move(again);
  return kept;
}

void Roofs::MeasureAll(const std::string& moment) {
  for (auto& [name, roof] : roofs_) roof = MeasureOne(name, moment);
}

std::vector<Roof> Roofs::TakeNew() { return std::exchange(new_, {}); }

}  // namespace assay::roofs

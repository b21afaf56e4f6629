// SPDX-License-Identifier: Apache-2.0

#include "perf/roofs/efficiency.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/text.h"

namespace assay::roofs {
namespace {

/// A type, and the name of the roof of its arithmetic.
using Named = std::pair<DType, std::string_view>;
/// From the fastest to the slowest.
constexpr std::array kWithRoofs = {
    Named{DType::kInt8, "int8"}, Named{DType::kUint8, "int8"},
    Named{DType::kBFloat16, "bfloat16"}, Named{DType::kFloat32, "float32"},
    Named{DType::kFloat64, "float64"}};
/// Those of no roof that may be slower than the ones above.
constexpr std::array kSlow = {DType::kUint16, DType::kInt16,  DType::kInt32,
                              DType::kInt64,  DType::kUint32, DType::kUint64,
                              DType::kBool,   DType::kString};

/// A rate of a call beside its roof.
struct Beside {
  std::string level, unit;
  double rate = 0;
  Roof roof;
  bool is_above() const { return rate > roof.rate->interval.high; }
  double frac() const { return rate / roof.rate->median; }
};

Beside BesideOf(double rate, const RoofName& name, std::string unit,
                Roofs* roofs) {
  Beside beside = {name.level, std::move(unit), rate, roofs->Of(name)};
  if (beside.roof.rate.has_value() && beside.is_above()) {
    beside.roof = roofs->Again(name);
  }
  return beside;
}

/// The roof of bytes; without a rate where the working set is in no level.
Beside BytesBeside(const CallWork& call, Roofs* roofs) {
  const std::vector<Level> levels = roofs->Levels(call.threads);
  const Level* const level = LevelFor(levels, call.working_set);
  if (level != nullptr) {
    return BesideOf(call.bytes / call.ns, {level->name, "", call.threads},
                    "GB/s", roofs);
  }
  Beside none;
  none.roof.none = levels.empty() ? "no cache of this machine is known"
                                  : StrCat(call.working_set,
                                           " bytes lie in the last "
                                           "cache in part");
  return none;
}

}  // namespace

std::string ComputeTypeOf(std::span<const DType> types) {
  const auto has = [&](DType type) { return std::ranges::count(types, type); };
  for (const DType type : types) {
    const bool is_known =
        std::ranges::count(kWithRoofs, type, &Named::first) > 0 ||
        std::ranges::count(kSlow, type) > 0;
    if (!is_known) return std::string(ToString(type));
  }
  for (const auto& [type, name] : kWithRoofs) {
    if (has(type) > 0) return std::string(name);
  }
  return types.empty() ? "" : std::string(ToString(types[0]));
}

Efficiency EfficiencyOf(const CallWork& call, Roofs* roofs) {
  Efficiency near;
  std::vector<Beside> all;
  if (call.flops > 0) {
    all.push_back(BesideOf(call.flops / call.ns,
                           {kCompute, call.type, call.threads}, "GFLOP/s",
                           roofs));
  }
  if (call.bytes > 0) all.push_back(BytesBeside(call, roofs));
  std::vector<std::string> undecided, none;
  for (const Beside& beside : all) {
    if (!beside.roof.rate.has_value()) {
      none.push_back(beside.roof.none);
      continue;
    }
    const Rate& roof = *beside.roof.rate;
    (beside.level == kCompute ? near.peak_gflop_s : near.peak_gb_s) =
        roof.median;
    if (beside.is_above()) {
      undecided.push_back(StrCat("undecided: ", beside.rate, " ", beside.unit,
                                 " is above the roof ", beside.level, " of ",
                                 roof.median, ", measured twice"));
    } else if (beside.frac() > near.roof_frac.value_or(0)) {
      near.roof_frac = beside.frac();
      near.bound = beside.level;
    }
  }
  if (!undecided.empty()) near = {near.peak_gflop_s, near.peak_gb_s, {}, ""};
  if (near.bound.empty()) {
    near.bound = Joined(undecided.empty() ? none : undecided, "; ");
  }
  return near;
}

}  // namespace assay::roofs

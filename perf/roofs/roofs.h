// SPDX-License-Identifier: Apache-2.0
//
// Roofs: what a machine can do at most, in arithmetic by type and in bytes by
// level of memory, measured when somebody asks for the first time.
//
//   Roofs roofs(machine::CachesOf("/"), MeasureHere);
//   const Roof& most = roofs.Of({kCompute, "float32", /*threads=*/1});
//   if (most.rate.has_value()) Show(most.rate->median);   // GFLOP/s
//   roofs.MeasureAll("end");

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/timing/machine/caches.h"
#include "perf/roofs/levels.h"
#include "perf/roofs/rate.h"

namespace assay::roofs {

/// The level of a roof of arithmetic.
inline constexpr char kCompute[] = "compute";

struct RoofName {
  std::string level;  // kCompute, or that of a Level
  std::string type;   // of arithmetic: "float32"; else empty
  int64_t threads = 1;

  auto operator<=>(const RoofName&) const = default;
};

/// A product that is added is two operations.
struct Roof {
  RoofName name;
  std::optional<Rate> rate;
  std::string code;    // that was fastest
  int64_t bytes = 0;   // that each thread went through
  std::string none;    // why there is no rate
  std::string moment;  // when in a run: "start", "again", or as it was said
};

/// Gives a roof without its moment. `level` is null for kCompute.
using Measure = std::function<Roof(const RoofName& name, const Level* level)>;

/// Not for several threads at once.
class Roofs {
 public:
  Roofs(std::vector<machine::Cache> caches, Measure measure)
      : caches_(std::move(caches)), measure_(std::move(measure)) {}

  /// The levels of so many threads.
  std::vector<Level> Levels(int64_t threads) const {
    return LevelsOf(caches_, threads);
  }

  /// Valid until the same roof is measured again. A level that is none of this
  /// machine has no rate.
  const Roof& Of(const RoofName& name);
  /// Measures it again; the greater of both stays.
  const Roof& Again(const RoofName& name);
  /// Measures all again that somebody has asked for.
  void MeasureAll(const std::string& moment);

  /// Those that were measured since the last time that this was asked.
  std::vector<Roof> TakeNew();

 private:
  Roof MeasureOne(const RoofName& name, std::string moment);

  std::vector<machine::Cache> caches_;
  Measure measure_;
  std::map<RoofName, Roof> roofs_;
  std::vector<Roof> new_;
};

/// On this machine, in 0.1 s of wall time, or in up to 1.6 s where others have
/// the processor: the loop of VectorCode that is fastest. Arithmetic in
/// bfloat16 may be done in float32: its roof is the higher one of both.
Roof MeasureHere(const RoofName& name, const Level* level);

}  // namespace assay::roofs

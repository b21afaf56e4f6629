// SPDX-License-Identifier: Apache-2.0
//
// Efficiency: how near a call is to the roofs that hold for it.
//
//   const Efficiency near = EfficiencyOf(
//       {.ns = 1e6, .flops = 2e8, .bytes = 1e5, .working_set = 100'000,
//        .type = ComputeTypeOf(types)}, &roofs);
//   if (near.roof_frac.has_value()) Show(near.bound, *near.roof_frac);
//
// A call can be no faster than its operations at the roof of arithmetic, nor
// than its bytes at the roof of the level that they lie in (S. Williams, A.
// Waterman and D. Patterson, "Roofline: an insightful visual performance
// model", 2009); the slower of both is the bound. A rate that is above its
// roof's interval has the roof measured again, and is undecided where it is
// still above: the roof is none for that code, or the count of its work is
// wrong.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "framework/core/dtype.h"
#include "perf/roofs/roofs.h"

namespace assay::roofs {

/// The type of the fastest arithmetic that a call on values of these types can
/// have: "int8" for eight bits of either sign. Its roof is a bound for all of
/// them; a faster one without vector code here (measure.cc) has no roof, nor
/// have integers alone.
std::string ComputeTypeOf(std::span<const DType> types);

struct CallWork {
  double ns = 0;
  double flops = 0, bytes = 0;  // at least
  int64_t working_set = 0;      // bytes that decide where its values lie
  std::string type;             // of ComputeTypeOf
  int64_t threads = 1;
};

struct Efficiency {
  std::optional<double> peak_gflop_s, peak_gb_s;
  /// The share of the roof that is nearer; nothing where it is undecided.
  std::optional<double> roof_frac;
  /// The name of that roof: "compute", "L2"; else why there is none.
  std::string bound;
};

/// Measures roofs that are not measured yet. `ns` is above 0.
Efficiency EfficiencyOf(const CallWork& call, Roofs* roofs);

}  // namespace assay::roofs

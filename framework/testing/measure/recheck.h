// SPDX-License-Identifier: Apache-2.0
//
// Recheck: a second look at a pass. The network that passed is run again, and
// each run may show that the first one proved nothing:
//
//     with an input changed, whose change must show in the outputs: an output
//       that stays the same in every bit was not computed from it: suspect;
//       a message about what comes after names that input;
//     with the first inputs once more, into the caller's memory, which holds
//       garbage between guards: an output that is stale, written elsewhere or
//       right only once fails, and so does a write over an input or a guard.
//
//   const Rechecked again = Recheck(*network, set, first, limit, plan);
//   if (again.verdict.outcome != record::Outcome::kPass) Report(again.verdict);
//
// The corpus names the inputs that must show, so that a verdict needs no other
// backend.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/field.h"

namespace assay::measure {

struct RecheckPlan {
  /// Indices of inputs whose change must show in some output.
  record::IndexList sensitive;
  /// By their indices, what stands in the place of those that are settings: any
  /// other value may be none that they can have.
  std::map<int64_t, Tensor> settings = {};
  /// True when two runs must agree in every bit.
  bool deterministic = false;
};

struct Rechecked {
  Judgement verdict;
  int64_t distinct_results = 1;  // of two runs with the same inputs
};

/// `first` is the observation that passed, `limit` the one it passed under. The
/// pass stands if no run shows a fault. Never throws.
Rechecked Recheck(Network& network, const cases::DataSet& set,
                  const Observation& first, const cases::Limit& limit,
                  const RecheckPlan& plan);

/// A copy in which every element has another value: numbers get another sign
/// and magnitude, integers another lowest bit. Nullopt where that is not
/// defined: no elements, elements narrower than a byte, strings.
std::optional<Tensor> Changed(const Tensor& tensor);

/// True when two values agree in kind, type, shape and every bit.
bool SameBits(const Value& a, const Value& b);

}  // namespace assay::measure

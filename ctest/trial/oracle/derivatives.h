// SPDX-License-Identifier: Apache-2.0
//
// A check of an oracle's derivatives: for a model at given inputs, the
// reverse pass, the tangent pass and the referee, which sees values only, must
// give one number for the sum of cotangents times Jacobian times tangents.
//
//   const Derivatives found =
//       CheckDerivatives(exact, network.inputs(), inputs, {}, seed);
//   EXPECT_EQ(found.verdict, Derivatives::kAgree) << found.what;
//
// Tangents are 1 or -1, so that no element counts less than another; cotangents
// are of size 0.5 to 1.5 and either sign.

#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "framework/backend/backend.h"
#include "framework/backend/exact.h"

namespace assay::oracle {

struct Derivatives {
  enum Verdict : uint8_t {
    kAgree,
    kNothing,     // no input or no output of floating-point numbers
    kTooNear,     // a kink or a jump: the referee has no bound
    kNonFinite,   // a derivative is infinite or none
    kAdjointOff,  // reverse and tangent pass differ
    kRefereeOff,  // both differ from the referee
    kLoose,       // the referee's bound is too wide to say anything
    kFailed,      // a pass failed
  };
  Verdict verdict = kNothing;
  std::string what;  // the numbers, or the reason
};

/// `infos` names the inputs; `still`: those, from 0, that are not moved.
Derivatives CheckDerivatives(Exact& exact, std::span<const ValueInfo> infos,
                             std::span<const Value> inputs,
                             const std::set<int>& still, uint64_t seed);

}  // namespace assay::oracle

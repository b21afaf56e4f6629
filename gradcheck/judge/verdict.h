// SPDX-License-Identifier: Apache-2.0
//
// The verdicts of a gradient case and their reasons.
//
//   if (!fault.empty()) return Verdict(record::Outcome::kFail, kFailBackward, fault);

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/record/reason.h"

namespace assay::gradcheck {

inline constexpr char kFailForward[] = "fail_forward";
inline constexpr char kFailBackward[] = "fail_backward";
inline constexpr char kFailOracle[] = "fail_oracle";
inline constexpr char kSubgradient[] = "subgradient_ok";
inline constexpr char kZero[] = "zero_almost_everywhere";
inline constexpr char kNotDifferentiable[] = "not_differentiable";
inline constexpr char kMasked[] = "masked_infinity";
inline constexpr char kStochastic[] = "stochastic_ok";
inline constexpr char kVacuous[] = "vacuous";
inline constexpr char kTooGreat[] = "jacobian_too_great";
inline constexpr char kNondeterministic[] = "nondeterministic";

/// The reasons, with their meanings.
std::vector<record::ReasonMeaning> Reasons();

measure::Judgement Verdict(record::Outcome outcome, const char* reason,
                           std::string message);
/// Of a case that could not be loaded.
measure::Judgement Stopped(const Status& status);
/// Of one that could not be run: declining is for Load and Bind only.
measure::Judgement StoppedRunning(const Status& status, const char* when);

}  // namespace assay::gradcheck

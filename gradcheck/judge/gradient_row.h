// SPDX-License-Identifier: Apache-2.0
//
// GradientRow: a row of gradients.csv, the gradient by one input for one
// cotangent, with its distance from the exact one. And the verdicts of a
// gradient case, with their reasons.

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/outcome.h"
#include "gradcheck/run/compare.h"

namespace assay::gradcheck {

struct GradientRow : record::Key {
  std::string gradient_case;
  bool expanded = false;
  std::string op, domain;
  record::Integer opset;
  std::string dtype, accumulator_dtype, input;
  int64_t input_index = 0;
  std::string shape;
  int64_t n_in = 0, n_out = 0;
  std::string case_class, input_class, cotangent, oracle;
  record::Number oracle_bound;
  record::Integer n_forward, n_backward;
  record::Number h_min, h_max, max_abs_err, max_rel_err, max_unit_err,
      p99_unit_err, rms_unit_err, limit, hard_limit, limit_units, limit_depth,
      limit_bound, hull_low, hull_high;
  std::string limit_source;
  record::Number headroom;
  record::Integer worst_index;
  record::Number want, got;
  record::Number dir_err, dir_bound, adjoint_err, adjoint_bound, linearity_err;
  record::Integer zero_ok, missing_cotangent_ok;
  record::Integer nan_mismatch, unknown, kink_count;
  std::string kink_convention;
  record::Number zero_share;
  record::Integer distinct_results;
  std::string outcome, reason_code;
  record::Integer forward_us, backward_us;
  std::string repro;
};

/// Writes the findings of a comparison into their columns.
void AddFound(const Compared& found, GradientRow* row);

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
/// The judgement of a case that could not be loaded.
measure::Judgement Stopped(const Status& status);
/// The judgement of a case that could not be run: declining is for Load and
/// Bind only.
measure::Judgement StoppedRunning(const Status& status, const char* when);

}  // namespace assay::gradcheck

namespace assay {
template <>
const record::Table& record::TableOf<gradcheck::GradientRow>();
}  // namespace assay

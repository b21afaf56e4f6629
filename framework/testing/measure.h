// SPDX-License-Identifier: Apache-2.0
//
// Run, Measure, Judge: the way of a case from a backend to a raw outcome. Free
// functions that know nothing of GoogleTest or of files.
//
//   const Observation seen = Run(backend, data.model, set.inputs, {});
//   const auto metrics = Measure(seen.outputs, set.expected, limit);
//   const Judgement verdict = Judge(seen, metrics);
//
// Measure first, judge second: every number is taken whether or not it passes.

#ifndef ASSAY_TESTING_MEASURE_H_
#define ASSAY_TESTING_MEASURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/outcome.h"
#include "framework/testing/test_case.h"

namespace assay::inline v1 {

enum class Stage : uint8_t { kLoad, kBind, kForward, kFetch };

/// What a backend did with one data set.
struct Observation {
  Status status;  // of the first stage that failed
  Stage stage = Stage::kFetch;
  std::vector<Value> outputs;  // copies: nothing of the backend's is kept
  std::vector<std::string> output_names;
  std::string placement;  // distinct executors joined by "+"; "" when unknown
  bool via_function = false;  // some node ran as part of a function body
  int64_t load_us = 0;
  int64_t run_us = 0;  // Bind, Forward, Synchronize and fetch
};

/// One Forward of a freshly loaded network, which `loaded`, where given, keeps.
/// Never throws: an exception of the backend becomes a failed Status.
Observation Run(Backend& backend, std::shared_ptr<const Model> model,
                std::span<const Value> inputs, const LoadOptions& options,
                std::unique_ptr<Network>* loaded = nullptr);

/// One more Forward of a network, into `outputs` where they are not empty.
/// `held`, where given, gets the backend's own outputs, of which the
/// observation has copies. Never throws.
Observation RunLoaded(Network& network, std::span<const Value> inputs,
                      std::span<const Value> outputs,
                      std::vector<Value>* held = nullptr);

/// The distance of one output from what was expected. Sequences, optionals and
/// maps are flattened: one metric per tensor, named "y[2]" or "y{key}"; the
/// indices of a sparse tensor are "y.indices". An empty sequence and an
/// optional of none are metrics of no elements, whose dtype is their type.
struct OutputMetrics {
  int output_index = 0;
  std::string output_name;
  std::string dtype;  // as got
  std::string shape;  // as got
  int64_t n_elem = 0;
  /// Kind, dtype, shape or count differ: what was found and wanted. The
  /// numbers below are then absent.
  std::string mismatch;
  Reason mismatch_reason = Reason::kNone;
  int64_t nan_mismatch = 0;
  int64_t inf_mismatch = 0;
  int64_t sign_of_zero_mismatch = 0;
  int64_t out_of_limit = 0;  // elements, NaN and infinity mismatches included
  // Over elements that are finite on both sides; absent when there is none.
  // Those with want 0 and got not 0 are left out of max_rel_err.
  std::optional<double> min_diff, max_diff;  // of got - want
  std::optional<double> max_abs_err, max_rel_err, rmse, rel_l2, cosine;
  // Distances in units in the last place of the output's type; floats only.
  std::optional<double> max_ulp, p50_ulp, p99_ulp, p999_ulp, mean_signed_ulp;
  std::optional<double> share_correctly_rounded;  // at 0 ulp from want
  /// The first element with the largest |got - want| / (atol + rtol * |want|),
  /// a mismatch of NaN or infinity being infinite; of integers the first with
  /// the largest |got - want|; of strings the first mismatch. -1 when all are
  /// equal.
  int64_t worst_index = -1;
  std::string worst_want, worst_got;
  /// 1 - that largest ratio: 1 is exact, 0 is at the limit, negative is out.
  /// 1 or -inf where the comparison is exact; absent without elements.
  std::optional<double> headroom;
  bool bitwise_equal = false;
  /// Of a case judged by distribution: the draws, the smallest p-value of all
  /// counts times their number (1 at most), and what it may not be below. The
  /// element, probability and share of that count are worst_index, _want and
  /// _got; headroom is 1 - log(p_value) / log(p_limit).
  std::optional<int64_t> n_draws;
  std::optional<double> p_value, p_limit;
  Limit limit;
  /// What `got` was compared with: a word of the column of that name.
  std::string reference = "expected";
  /// Of distances to an oracle: its greatest bound, in ULP, and the greatest
  /// error in condition-aware units.
  std::optional<double> oracle_bound, max_unit_err;
};

/// One entry per tensor of the expected outputs, plus one that names a count
/// mismatch. The limit applies to floats; integers, booleans and strings are
/// exact whatever it says. Under Comparator::kDistribution only kind, dtype
/// and shape are looked at.
std::vector<OutputMetrics> Measure(std::span<const Value> got,
                                   std::span<const Value> want,
                                   std::span<const std::string> names,
                                   const Limit& limit);

/// A raw outcome: kPass, kFail, kUnsupported, kUnavailable or kError.
struct Judgement {
  Outcome outcome = Outcome::kError;
  Reason reason = Reason::kNone;
  std::string message;
};

/// Unsupported counts only from Load and Bind; from Forward it is an error.
/// Unavailable likewise. Other failed statuses are errors. A pass needs every
/// metric within limits and at least one of them; none at all is an error of
/// the case. Outputs that are to be judged by distribution and have the wanted
/// kinds, dtypes and shapes are kUnsupported, reason value: one run does not
/// tell, JudgeDraws (distribution.h) does, and what was not judged must not
/// pass.
Judgement Judge(const Observation& seen,
                std::span<const OutputMetrics> metrics);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_MEASURE_H_

// SPDX-License-Identifier: Apache-2.0
//
// Run, Measure, Judge: the way of a case from a backend to a raw outcome. Free
// functions that know nothing of GoogleTest or of files.
//
//   const Observation seen = Run(backend, data.model, set.inputs, {});
//   const auto metrics = Measure(seen.outputs, set.expected, names, limit);
//   const Judgement verdict = Judge(seen, metrics);
//
// Measure first, judge second: every number is taken whether or not it passes.
// MeasureExact takes the distance from an oracle's answers.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/compare.h"
#include "framework/testing/measure/exact_answers.h"
#include "framework/testing/record/outcome.h"

namespace assay::measure {

enum class Stage : uint8_t { kLoad, kBind, kForward, kFetch };

/// The acts and outputs of a backend for one data set.
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

/// One entry per tensor of the expected outputs, plus one that names a count
/// mismatch. The limit applies to floats; integers, booleans and strings are
/// exact whatever it says. Under Comparator::kDistribution only kind, dtype
/// and shape are looked at.
std::vector<OutputMetrics> Measure(std::span<const Value> got,
                                   std::span<const Value> want,
                                   std::span<const std::string> names,
                                   const cases::Limit& limit);

/// A raw outcome: kPass, kFail, kUnsupported, kUnavailable or kError.
struct Judgement {
  record::Outcome outcome = record::Outcome::kError;
  record::ReasonCode reason;
  std::string message;
};

/// Unsupported counts only from Load and Bind; from Forward it is an error.
/// Unavailable likewise. Other failed statuses are errors. A pass needs every
/// metric within limits and at least one of them; none at all is an error of
/// the case. Outputs that are to be judged by distribution and have the wanted
/// kinds, dtypes and shapes are kUnsupported, reason value: one run does not
/// tell, and an output that was not judged must not pass. JudgeDraws
/// (distribution.h) judges it.
Judgement Judge(const Observation& seen,
                std::span<const OutputMetrics> metrics);

/// One entry per tensor, as Measure gives them, with `reference` as their
/// reference. Distances of floating-point tensors are from the unrounded
/// numbers (exact_difference.h), with oracle_bound in ULP, and worst_index is
/// the element that is most ULP away. Other tensors are compared with those of
/// the answer. A tensor that the oracle does not know, or that only one of
/// `got` and `want` has, gets no entry. The worst elements are those of
/// `judged`, which are entries of Measure.
std::vector<OutputMetrics> MeasureExact(
    std::span<const Value> got, std::span<const ExactAnswer> want,
    std::span<const std::string> names, const cases::Limit& limit,
    const std::string& reference, std::span<const OutputMetrics> judged = {});

}  // namespace assay::measure

// SPDX-License-Identifier: Apache-2.0
//
// The rows of the run folder's tables. columns.cc says of each member what its
// column is called and means, tables.h turns rows into CSV, journal and schema.
//
// Every row that belongs to a case begins with the key.

#pragma once

#include <cstdint>
#include <string>

#include "framework/testing/record/field.h"
#include "framework/testing/record/outcome.h"

namespace assay::record {

inline constexpr int64_t kSchemaVersion = 1;

/// Which case, on what, in which run.
struct Key {
  int64_t schema = kSchemaVersion;
  std::string run_id;
  int64_t attempt = 1;
  std::string test_id;
  std::string backend;
  std::string settings;
};

struct RunRow {
  int64_t schema = kSchemaVersion;
  std::string run_id, started_utc;
  Number duration_s;
  std::string commit;
  bool dirty = false;
  std::string assay_version, corpus_hash, policy_hash, env_id;
  int64_t seed = 0;
  std::string tier, command;
  int64_t n_planned = 0, n_pass = 0, n_vacuous = 0, n_waived = 0, n_fail = 0,
          n_suspect = 0, n_unsupported = 0, n_unavailable = 0, n_xfail = 0,
          n_xpass = 0, n_flaky = 0, n_error = 0, n_crash = 0, n_timeout = 0,
          n_missing = 0;
  bool complete = false;
};

struct PlanRow {
  std::string test_id, backend, settings, suite, op, domain;
  Integer opset;
  std::string dtypes, kind, needs, tier;
  int64_t ranks = 0;
  std::string transport;
  // The facts that a worker needs to run it.
  std::string corpus, directory, shape_sig;
  Comparator comparator = Comparator::kTolerance;
  Number rtol, atol;
  std::string limit_source, vacuous;
  IndexList sensitive;
  int64_t n_data_sets = 1;
  bool drawn = false;
  // The policy for it.
  Number tolerate_rtol, tolerate_atol;
  std::string tolerate_source;
  std::optional<Outcome> expected;
  bool expected_at_some_seeds = false;
  std::string expected_source, because;
  bool claimed = false;
  std::string probes;  // operators, the first that loads is taken; "a::B c::D"
  bool deterministic = false;
  std::string accumulator;  // element type; empty: that of the case
  std::string oracle;       // the folder of its exact answers; empty: none
  // The outcome of the question to the oracle, where there are no answers.
  std::optional<Outcome> oracle_outcome;
  std::string oracle_message;
};

struct EnvRow {
  std::string env_id, key, value;
};

struct BackendRow {
  std::string run_id, backend, settings, version, build_id, module_sha256,
      device, claims_json, unavailable_reason, reach, isa;
};

struct ResultRow : Key {
  std::string suite, op, domain;
  Integer opset;
  std::string dtype, shape_sig;
  Outcome outcome = Outcome::kMissing;
  std::string reason_code, message;
  bool vacuous = false;
  bool via_function = false;
  std::string placement;
  int64_t seed = 0;
  Integer started_us, load_us, run_us, judge_us, peak_rss_kb;
  std::string worker, limit_source;
  Number headroom;
  std::string repro, after;
};

/// The numbers of a comparison (TakeNumbers). Those of errors are over elements
/// that are finite on both sides, those in ULP of floats only.
struct AccuracyNumbers {
  Number min_diff, max_diff, max_abs_err, max_rel_err, max_ulp, p50_ulp,
      p99_ulp, p999_ulp, mean_signed_ulp, share_correctly_rounded, max_unit_err,
      rmse, rel_l2, cosine;
};

struct AccuracyRow : Key, AccuracyNumbers {
  int64_t output_index = 0;
  std::string output_name, dtype, shape;
  Integer n_elem;
  std::string reference;
  Integer nan_mismatch, inf_mismatch, out_of_limit;
  Integer worst_index;
  std::string worst_want, worst_got;
  Number atol, rtol, limit;
  std::string limit_source;
  Number headroom, oracle_bound;
  Integer sign_of_zero_mismatch;
  bool bitwise_equal = false;
  Integer distinct_results;
  Comparator comparator = Comparator::kTolerance;
  Integer n_draws;
  Number p_value;
  std::string worst, error_bins;
};

/// A deliberate defect and whether some test saw it.
struct MutantRow {
  std::string mutant, mutant_class, suite, expected_killer, killed_by;
  bool killed = false;
  std::string killing_case, build_id;
};

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0
//
// The rows of the run folder's tables and, for each, its columns: name, member
// and meaning. tables.h turns them into CSV, journal and schema.
//
//   AccuracyRow row;
//   row.max_abs_err = 1e-7;        // absent until measured
//
// Every row that belongs to a case begins with the key.

#ifndef ASSAY_TESTING_ROWS_H_
#define ASSAY_TESTING_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

namespace assay::inline v1 {

inline constexpr int64_t kSchemaVersion = 1;

using Integer = std::optional<int64_t>;
using Number = std::optional<double>;

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
  std::string dtypes, kind, needs;
  Number cost_ms;
  bool selected = true;
  // What a worker needs to run it.
  std::string corpus, directory, shape_sig, comparator;
  Number rtol, atol;
  std::string limit_source, vacuous, sensitive;
  int64_t n_data_sets = 1;
  // What the policy says of it.
  Number tolerate_rtol, tolerate_atol;
  std::string tolerate_source, expected, expected_source, because;
  bool claimed = false;
  bool deterministic = false;
  std::string oracle;
};

struct EnvRow {
  std::string env_id, key, value;
};

struct BackendRow {
  std::string run_id, backend, settings, version, build_id, module_sha256,
      device, claims_json, unavailable_reason;
};

struct ResultRow : Key {
  std::string suite, op, domain;
  Integer opset;
  std::string dtype, shape_sig, outcome, reason_code, message;
  bool vacuous = false;
  bool via_function = false;
  std::string placement;
  int64_t seed = 0;
  Integer started_us, load_us, run_us, judge_us, peak_rss_kb;
  std::string worker, limit_source;
  Number headroom;
  std::string repro, after;
};

struct AccuracyRow : Key {
  int64_t output_index = 0;
  std::string output_name, dtype, shape;
  Integer n_elem;
  std::string reference;
  Integer nan_mismatch, inf_mismatch, out_of_limit;
  Number min_diff, max_diff, max_abs_err, max_rel_err, max_ulp, p50_ulp,
      p99_ulp, p999_ulp, mean_signed_ulp, share_correctly_rounded, max_unit_err,
      rmse, rel_l2, cosine;
  Integer worst_index;
  std::string worst_want, worst_got;
  Number atol, rtol, limit;
  std::string limit_source;
  Number headroom, oracle_bound;
  Integer sign_of_zero_mismatch;
  bool bitwise_equal = false;
  Integer distinct_results;
  std::string grade;
  std::string comparator;
  Integer n_draws;
  Number p_value;
};

/// A deliberate defect and whether some test saw it.
struct MutantRow {
  std::string mutant, mutant_class, suite, expected_killer, killed_by;
  bool killed = false;
  std::string killing_case, build_id;
};

/// One column: its name in files, where a row holds it, what it means.
template <class Row, class T>
struct Column {
  std::string_view name;
  T Row::*member;
  std::string_view doc;
};

template <class Row, class Owner, class T>
constexpr Column<Row, T> MakeColumn(std::string_view name, T Owner::*member,
                                    std::string_view doc) {
  return {name, member, doc};
}

/// Name and columns of a Row's table.
template <class Row>
struct TableOf;

// Column X of `Row`: the member's name is the column's.
#define ASSAY_COLUMN_(name, doc) MakeColumn<Row>(#name, &Row::name, doc)

template <class Row_>
constexpr auto KeyColumns() {
  using Row = Row_;
  return std::tuple(
      ASSAY_COLUMN_(schema, "version of these tables"),
      ASSAY_COLUMN_(run_id, "UTC time and a random part"),
      ASSAY_COLUMN_(attempt, "from 1; in results, how many were needed"),
      ASSAY_COLUMN_(test_id, "suite/op/case[#variant]"),
      ASSAY_COLUMN_(backend, "instance: name[@version][+setting...]"),
      ASSAY_COLUMN_(settings, "device:precision:optimisation:threads"));
}

template <>
struct TableOf<RunRow> {
  using Row = RunRow;
  static constexpr std::string_view kName = "runs";
  static constexpr auto kColumns = std::tuple(
      ASSAY_COLUMN_(schema, "version of these tables"),
      ASSAY_COLUMN_(run_id, "UTC time and a random part"),
      ASSAY_COLUMN_(started_utc, "ISO 8601"),
      ASSAY_COLUMN_(duration_s, "wall time of the whole run"),
      ASSAY_COLUMN_(commit, "of the source tree, empty outside one"),
      ASSAY_COLUMN_(dirty, "whether that tree had uncommitted changes"),
      ASSAY_COLUMN_(assay_version, "release of this program"),
      ASSAY_COLUMN_(corpus_hash, "digest of the corpora's manifests"),
      ASSAY_COLUMN_(policy_hash, "digest of expectations, claims and floors"),
      ASSAY_COLUMN_(env_id, "digest of the rows of env"),
      ASSAY_COLUMN_(seed, "of everything random"),
      ASSAY_COLUMN_(tier, "smoke, ci or nightly"),
      ASSAY_COLUMN_(command, "as typed"),
      ASSAY_COLUMN_(n_planned, "cases times backends"),
      ASSAY_COLUMN_(n_pass, "outcomes pass"),
      ASSAY_COLUMN_(n_vacuous, "passes of cases that prove nothing"),
      ASSAY_COLUMN_(n_waived, "outcomes waived"),
      ASSAY_COLUMN_(n_fail, "outcomes fail"),
      ASSAY_COLUMN_(n_suspect, "outcomes suspect"),
      ASSAY_COLUMN_(n_unsupported, "outcomes unsupported"),
      ASSAY_COLUMN_(n_unavailable, "outcomes unavailable"),
      ASSAY_COLUMN_(n_xfail, "outcomes xfail"),
      ASSAY_COLUMN_(n_xpass, "outcomes xpass"),
      ASSAY_COLUMN_(n_flaky, "outcomes flaky"),
      ASSAY_COLUMN_(n_error, "outcomes error"),
      ASSAY_COLUMN_(n_crash, "outcomes crash"),
      ASSAY_COLUMN_(n_timeout, "outcomes timeout"),
      ASSAY_COLUMN_(n_missing, "outcomes missing"),
      ASSAY_COLUMN_(complete, "0 for a filtered or unfinished run"));
};

template <>
struct TableOf<PlanRow> {
  using Row = PlanRow;
  static constexpr std::string_view kName = "plan";
  static constexpr auto kColumns = std::tuple(
      ASSAY_COLUMN_(test_id, "suite/op/case[#variant]"),
      ASSAY_COLUMN_(backend, "instance"),
      ASSAY_COLUMN_(settings, "device:precision:optimisation:threads"),
      ASSAY_COLUMN_(suite, "node, model, ..."),
      ASSAY_COLUMN_(op, "operator under test, or a model's group"),
      ASSAY_COLUMN_(domain, "of the operator, as ai.onnx"),
      ASSAY_COLUMN_(opset, "version of that domain"),
      ASSAY_COLUMN_(dtypes, "of all tensors, separated by spaces"),
      ASSAY_COLUMN_(kind, "node, expanded, model"),
      ASSAY_COLUMN_(needs, "resources, as mpi"),
      ASSAY_COLUMN_(cost_ms, "from an earlier run"),
      ASSAY_COLUMN_(selected, "whether this run's selection has it"),
      ASSAY_COLUMN_(corpus, "name of the corpus"),
      ASSAY_COLUMN_(directory, "of the case's files"),
      ASSAY_COLUMN_(shape_sig, "shapes of the inputs"),
      ASSAY_COLUMN_(comparator, "exact, tolerance, text, distribution"),
      ASSAY_COLUMN_(rtol, "relative tolerance of the case"),
      ASSAY_COLUMN_(atol, "absolute tolerance of the case"),
      ASSAY_COLUMN_(limit_source, "where that tolerance comes from"),
      ASSAY_COLUMN_(vacuous, "why a pass proves nothing, or empty"),
      ASSAY_COLUMN_(n_data_sets, "of the case"),
      ASSAY_COLUMN_(tolerate_rtol, "loosened, by a tolerate line"),
      ASSAY_COLUMN_(tolerate_atol, "loosened, by a tolerate line"),
      ASSAY_COLUMN_(tolerate_source, "file:line of that line"),
      ASSAY_COLUMN_(expected, "outcome of a matching expect line"),
      ASSAY_COLUMN_(expected_source, "file:line of that line"),
      ASSAY_COLUMN_(because, "its reason"),
      ASSAY_COLUMN_(claimed, "whether the case is inside the claims"),
      ASSAY_COLUMN_(sensitive, "inputs whose change must show in an output"),
      ASSAY_COLUMN_(deterministic, "whether equal runs are claimed equal"),
      ASSAY_COLUMN_(oracle, "folder of exact answers, or empty"));
};

template <>
struct TableOf<EnvRow> {
  using Row = EnvRow;
  static constexpr std::string_view kName = "env";
  static constexpr auto kColumns =
      std::tuple(ASSAY_COLUMN_(env_id, "digest of all rows"),
                 ASSAY_COLUMN_(key, "cpu, kernel, compiler, ..."),
                 ASSAY_COLUMN_(value, "as found"));
};

template <>
struct TableOf<BackendRow> {
  using Row = BackendRow;
  static constexpr std::string_view kName = "backends";
  static constexpr auto kColumns = std::tuple(
      ASSAY_COLUMN_(run_id, "UTC time and a random part"),
      ASSAY_COLUMN_(backend, "instance"),
      ASSAY_COLUMN_(settings, "device:precision:optimisation:threads"),
      ASSAY_COLUMN_(version, "of the library underneath"),
      ASSAY_COLUMN_(build_id, "of the module"),
      ASSAY_COLUMN_(module_sha256, "of the module's file"),
      ASSAY_COLUMN_(device, "cpu, cuda:0, ..."),
      ASSAY_COLUMN_(claims_json, "the claims as a list of sentences"),
      ASSAY_COLUMN_(unavailable_reason, "empty when it ran"));
};

template <>
struct TableOf<ResultRow> {
  using Row = ResultRow;
  static constexpr std::string_view kName = "results";
  static constexpr auto kColumns = std::tuple_cat(
      KeyColumns<Row>(),
      std::tuple(
          ASSAY_COLUMN_(suite, "node, model, ..."),
          ASSAY_COLUMN_(op, "operator under test, or a model's group"),
          ASSAY_COLUMN_(domain, "of the operator, as ai.onnx"),
          ASSAY_COLUMN_(opset, "version of that domain"),
          ASSAY_COLUMN_(dtype, "of all tensors, separated by spaces"),
          ASSAY_COLUMN_(shape_sig, "shapes of the inputs"),
          ASSAY_COLUMN_(outcome, "the verdict"),
          ASSAY_COLUMN_(reason_code, "why it is not a pass"),
          ASSAY_COLUMN_(message, "the same in words, with values"),
          ASSAY_COLUMN_(vacuous, "a pass would prove nothing"),
          ASSAY_COLUMN_(via_function, "ran as its function body"),
          ASSAY_COLUMN_(placement, "what really computed"),
          ASSAY_COLUMN_(seed, "of everything random"),
          ASSAY_COLUMN_(started_us, "since the start of the run"),
          ASSAY_COLUMN_(load_us, "Load"),
          ASSAY_COLUMN_(run_us, "Bind, Forward, Synchronize, fetch"),
          ASSAY_COLUMN_(judge_us, "Measure and Judge"),
          ASSAY_COLUMN_(peak_rss_kb, "of the worker so far"),
          ASSAY_COLUMN_(worker, "process that ran it"),
          ASSAY_COLUMN_(limit_source, "where the tolerance comes from"),
          ASSAY_COLUMN_(headroom, "1 exact, 0 at the limit, below: out"),
          ASSAY_COLUMN_(repro, "command that gives the same outcome"),
          ASSAY_COLUMN_(after, "cases run before it when it was repeated")));
};

template <>
struct TableOf<AccuracyRow> {
  using Row = AccuracyRow;
  static constexpr std::string_view kName = "accuracy";
  static constexpr auto kColumns = std::tuple_cat(
      KeyColumns<Row>(),
      std::tuple(
          ASSAY_COLUMN_(output_index, "from 0"),
          ASSAY_COLUMN_(output_name, "with [i] or {key} for parts"),
          ASSAY_COLUMN_(dtype, "of the output as got"),
          ASSAY_COLUMN_(shape, "of the output as got"),
          ASSAY_COLUMN_(n_elem, "elements compared"),
          ASSAY_COLUMN_(reference,
                        "expected, oracle, law or backend:X; expected_oracle: "
                        "the expected data, held against the oracle"),
          ASSAY_COLUMN_(nan_mismatch, "NaN on one side only"),
          ASSAY_COLUMN_(inf_mismatch, "infinity on one side only"),
          ASSAY_COLUMN_(out_of_limit, "elements outside the limit"),
          ASSAY_COLUMN_(min_diff, "least got - want"),
          ASSAY_COLUMN_(max_diff, "greatest got - want"),
          ASSAY_COLUMN_(max_abs_err, "greatest |got - want|"),
          ASSAY_COLUMN_(max_rel_err, "greatest |got - want| / |want|"),
          ASSAY_COLUMN_(max_ulp,
                        "greatest distance in ULP, to an oracle in fractions"),
          ASSAY_COLUMN_(p50_ulp, "median distance in ULP"),
          ASSAY_COLUMN_(p99_ulp, "99th percentile in ULP"),
          ASSAY_COLUMN_(p999_ulp, "99.9th percentile in ULP"),
          ASSAY_COLUMN_(mean_signed_ulp, "bias in ULP"),
          ASSAY_COLUMN_(share_correctly_rounded,
                        "elements equal to want, or to the oracle rounded"),
          ASSAY_COLUMN_(max_unit_err, "in condition-aware units"),
          ASSAY_COLUMN_(rmse, "root mean square of got - want"),
          ASSAY_COLUMN_(rel_l2, "norm of the difference over norm of want"),
          ASSAY_COLUMN_(cosine, "of the angle between got and want"),
          ASSAY_COLUMN_(worst_index,
                        "element with the greatest ratio; against an oracle, "
                        "with the greatest distance in ULP"),
          ASSAY_COLUMN_(worst_want, "expected there"),
          ASSAY_COLUMN_(worst_got, "found there"),
          ASSAY_COLUMN_(atol, "absolute part of the limit"),
          ASSAY_COLUMN_(rtol, "relative part of the limit"),
          ASSAY_COLUMN_(limit, "atol + rtol |want| at the worst element"),
          ASSAY_COLUMN_(limit_source, "where the tolerance comes from"),
          ASSAY_COLUMN_(headroom, "1 exact, 0 at the limit, below: out"),
          ASSAY_COLUMN_(oracle_bound,
                        "greatest error bound of the oracle, in ULP"),
          ASSAY_COLUMN_(sign_of_zero_mismatch, "zeros of another sign"),
          ASSAY_COLUMN_(bitwise_equal, "all bits agree"),
          ASSAY_COLUMN_(distinct_results, "over repeated runs"),
          ASSAY_COLUMN_(grade, "of the accuracy suite"),
          ASSAY_COLUMN_(comparator, "exact, tolerance, text, distribution"),
          ASSAY_COLUMN_(n_draws, "of a case judged by distribution"),
          ASSAY_COLUMN_(p_value,
                        "smallest of all counts, times their number")));
};

template <>
struct TableOf<MutantRow> {
  using Row = MutantRow;
  static constexpr std::string_view kName = "mutants";
  static constexpr auto kColumns = std::tuple(
      ASSAY_COLUMN_(mutant, "name of the defect"),
      MakeColumn<Row>("class", &Row::mutant_class, "what kind of defect"),
      ASSAY_COLUMN_(suite, "a suite of cases, or harness"),
      ASSAY_COLUMN_(expected_killer, "what is to see it"),
      ASSAY_COLUMN_(killed_by, "what saw it first, or empty"),
      ASSAY_COLUMN_(killed, "whether anything saw it"),
      MakeColumn<Row>("case", &Row::killing_case, "first case that failed"),
      ASSAY_COLUMN_(build_id, "of the module, or of the program"));
};

#undef ASSAY_COLUMN_

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_ROWS_H_

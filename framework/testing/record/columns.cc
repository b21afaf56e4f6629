// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/columns.h"

#include <initializer_list>

namespace assay::inline v1 {
namespace {

// Column X of `Row`: the member's name is the column's.
#define ASSAY_COLUMN_(name, doc) \
  { #name, &Row::name, doc }

/// The key, which every row that belongs to a case begins with, and the rest.
template <class Row>
std::vector<Column<Row>> WithKey(std::initializer_list<Column<Row>> rest) {
  std::vector<Column<Row>> all = {
      ASSAY_COLUMN_(schema, "version of these tables"),
      ASSAY_COLUMN_(run_id, "UTC time and a random part"),
      ASSAY_COLUMN_(attempt, "from 1; in results, how many were needed"),
      ASSAY_COLUMN_(test_id, "suite/op/case[#variant]"),
      ASSAY_COLUMN_(backend, "instance: name[@version][+setting...]"),
      ASSAY_COLUMN_(settings, "device:precision:optimisation:threads")};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

}  // namespace

template <>
const std::string_view TableOf<RunRow>::kName = "runs";
template <>
std::span<const Column<RunRow>> TableOf<RunRow>::Columns() {
  static const std::vector<Column<Row>> columns = {
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
      ASSAY_COLUMN_(complete, "0 for a filtered or unfinished run")};
  return columns;
}

template <>
const std::string_view TableOf<PlanRow>::kName = "plan";
template <>
std::span<const Column<PlanRow>> TableOf<PlanRow>::Columns() {
  static const std::vector<Column<Row>> columns = {
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
      ASSAY_COLUMN_(oracle, "folder of exact answers, or empty")};
  return columns;
}

template <>
const std::string_view TableOf<EnvRow>::kName = "env";
template <>
std::span<const Column<EnvRow>> TableOf<EnvRow>::Columns() {
  static const std::vector<Column<Row>> columns = {
      ASSAY_COLUMN_(env_id, "digest of all rows"),
      ASSAY_COLUMN_(key, "cpu, kernel, compiler, ..."),
      ASSAY_COLUMN_(value, "as found")};
  return columns;
}

template <>
const std::string_view TableOf<BackendRow>::kName = "backends";
template <>
std::span<const Column<BackendRow>> TableOf<BackendRow>::Columns() {
  static const std::vector<Column<Row>> columns = {
      ASSAY_COLUMN_(run_id, "UTC time and a random part"),
      ASSAY_COLUMN_(backend, "instance"),
      ASSAY_COLUMN_(settings, "device:precision:optimisation:threads"),
      ASSAY_COLUMN_(version, "of the library underneath"),
      ASSAY_COLUMN_(build_id, "of the module"),
      ASSAY_COLUMN_(module_sha256, "of the module's file"),
      ASSAY_COLUMN_(device, "cpu, cuda:0, ..."),
      ASSAY_COLUMN_(claims_json, "the claims as a list of sentences"),
      ASSAY_COLUMN_(unavailable_reason, "empty when it ran")};
  return columns;
}

template <>
const std::string_view TableOf<ResultRow>::kName = "results";
template <>
std::span<const Column<ResultRow>> TableOf<ResultRow>::Columns() {
  static const std::vector<Column<Row>> columns = WithKey<Row>(
      {ASSAY_COLUMN_(suite, "node, model, ..."),
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
       ASSAY_COLUMN_(after, "cases run before it when it was repeated")});
  return columns;
}

template <>
const std::string_view TableOf<AccuracyRow>::kName = "accuracy";
template <>
std::span<const Column<AccuracyRow>> TableOf<AccuracyRow>::Columns() {
  static const std::vector<Column<Row>> columns = WithKey<Row>(
      {ASSAY_COLUMN_(output_index, "from 0"),
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
       ASSAY_COLUMN_(p_value, "smallest of all counts, times their number")});
  return columns;
}

template <>
const std::string_view TableOf<MutantRow>::kName = "mutants";
template <>
std::span<const Column<MutantRow>> TableOf<MutantRow>::Columns() {
  static const std::vector<Column<Row>> columns = {
      ASSAY_COLUMN_(mutant, "name of the defect"),
      {"class", &Row::mutant_class, "what kind of defect"},
      ASSAY_COLUMN_(suite, "a suite of cases, or harness"),
      ASSAY_COLUMN_(expected_killer, "what is to see it"),
      ASSAY_COLUMN_(killed_by, "what saw it first, or empty"),
      ASSAY_COLUMN_(killed, "whether anything saw it"),
      {"case", &Row::killing_case, "first case that failed"},
      ASSAY_COLUMN_(build_id, "of the module, or of the program")};
  return columns;
}

#undef ASSAY_COLUMN_

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/columns.h"

#include <algorithm>

namespace assay::record {
namespace {

std::vector<const Table*>& AllTables() {
  static auto* tables = new std::vector<const Table*>{
      &TableOf<RunRow>(),     &TableOf<PlanRow>(),   &TableOf<EnvRow>(),
      &TableOf<BackendRow>(), &TableOf<ResultRow>(), &TableOf<AccuracyRow>(),
      &TableOf<MutantRow>()};
  return *tables;
}

using Row = AccuracyRow;
using metric::Errors;
using metric::UlpSummary;

constexpr auto kErrors = &metric::Difference::errors;
constexpr auto kUlp = &metric::Difference::ulp;

/// A number: its column, and the step from the metric.
struct TakenNumber {
  Column column;
  void (*take)(const metric::ExactDifference& from, AccuracyNumbers* to);
};

/// The number kTo is the member kFrom of a difference.
template <Number AccuracyNumbers::*kTo, auto kFrom>
TakenNumber NumberOf(std::string_view name, std::string_view doc) {
  return {ColumnOf<Row, kTo>(name, doc),
          [](const metric::ExactDifference& from, AccuracyNumbers* to) {
            to->*kTo = from.*kFrom;
          }};
}

/// The number kTo is the member kFrom of a part, absent where that is.
template <Number AccuracyNumbers::*kTo, auto kPart, auto kFrom>
TakenNumber NumberOf(std::string_view name, std::string_view doc) {
  return {ColumnOf<Row, kTo>(name, doc),
          [](const metric::ExactDifference& from, AccuracyNumbers* to) {
            const auto& part = from.*kPart;
            to->*kTo = part.has_value() ? Number((*part).*kFrom) : Number();
          }};
}

const std::vector<TakenNumber>& Numbers() {
  static const auto* numbers = new std::vector<TakenNumber>{
      NumberOf<&Row::min_diff, kErrors, &Errors::min_diff>("min_diff",
                                                           "least got - want"),
      NumberOf<&Row::max_diff, kErrors, &Errors::max_diff>(
          "max_diff", "greatest got - want"),
      NumberOf<&Row::max_abs_err, kErrors, &Errors::max_abs>(
          "max_abs_err", "greatest |got - want|"),
      NumberOf<&Row::max_rel_err, kErrors, &Errors::max_rel>(
          "max_rel_err", "greatest |got - want| / |want|"),
      NumberOf<&Row::max_ulp, kUlp, &UlpSummary::max>(
          "max_ulp", "greatest distance in ULP, to an oracle in fractions"),
      NumberOf<&Row::p50_ulp, kUlp, &UlpSummary::p50>("p50_ulp",
                                                      "median distance in ULP"),
      NumberOf<&Row::p99_ulp, kUlp, &UlpSummary::p99>("p99_ulp",
                                                      "99th percentile in ULP"),
      NumberOf<&Row::p999_ulp, kUlp, &UlpSummary::p999>(
          "p999_ulp", "99.9th percentile in ULP"),
      NumberOf<&Row::mean_signed_ulp, kUlp, &UlpSummary::mean_signed>(
          "mean_signed_ulp", "bias in ULP"),
      NumberOf<&Row::share_correctly_rounded, kUlp, &UlpSummary::share_zero>(
          "share_correctly_rounded",
          "elements equal to want, or to the oracle rounded; empty where its "
          "bound is too wide"),
      NumberOf<&Row::max_unit_err,
               &metric::ExactDifference::greatest_unit_error>(
          "max_unit_err", "in condition-aware units"),
      NumberOf<&Row::rmse, kErrors, &Errors::rmse>(
          "rmse", "root mean square of got - want"),
      NumberOf<&Row::rel_l2, kErrors, &Errors::rel_l2>(
          "rel_l2", "norm of the difference over norm of want"),
      NumberOf<&Row::cosine, kErrors, &Errors::cosine>(
          "cosine", "of the angle between got and want")};
  return *numbers;
}

Table AccuracyTable() {
  Table table = CaseTable<Row>(
      "accuracy",
      {ASSAY_COLUMN(output_index, "from 0"),
       ASSAY_COLUMN(output_name, "with [i] or {key} for parts"),
       ASSAY_COLUMN(dtype, "of the output as got"),
       ASSAY_COLUMN(shape, "of the output as got"),
       ASSAY_COLUMN(n_elem, "elements compared"),
       ASSAY_COLUMN(reference,
                    "expected, oracle, law or backend:X; expected_oracle: "
                    "the expected data, held against the oracle"),
       ASSAY_COLUMN(nan_mismatch, "NaN on one side only"),
       ASSAY_COLUMN(inf_mismatch, "infinity on one side only"),
       ASSAY_COLUMN(out_of_limit, "elements outside the limit")});
  for (const TakenNumber& number : Numbers()) {
    table.columns.push_back(number.column);
  }
  table.columns.insert(
      table.columns.end(),
      {ASSAY_COLUMN(worst_index,
                    "element with the greatest ratio; against an oracle, "
                    "with the greatest distance in ULP"),
       ASSAY_COLUMN(worst_want, "expected there"),
       ASSAY_COLUMN(worst_got, "found there"),
       ASSAY_COLUMN(atol, "absolute part of the limit"),
       ASSAY_COLUMN(rtol, "relative part of the limit"),
       ASSAY_COLUMN(limit, "atol + rtol |want| at the worst element"),
       ASSAY_COLUMN(limit_source, "where the tolerance comes from"),
       ASSAY_COLUMN(headroom, "1 exact, 0 at the limit, below: out"),
       ASSAY_COLUMN(oracle_bound, "greatest error bound of the oracle, in ULP"),
       ASSAY_COLUMN(sign_of_zero_mismatch, "zeros of another sign"),
       ASSAY_COLUMN(bitwise_equal, "all bits agree"),
       ASSAY_COLUMN(distinct_results, "over repeated runs"),
       ASSAY_COLUMN(comparator, "exact, tolerance, text, distribution, oracle"),
       ASSAY_COLUMN(n_draws, "of a case judged by distribution"),
       ASSAY_COLUMN(p_value,
                    "smallest of all counts, times their number; other draws "
                    "each run where a model gives no seed"),
       ASSAY_COLUMN(worst,
                    "of a fail, the elements furthest out, as index:want:got; "
                    "against an oracle the same ones, want being exact"),
       ASSAY_COLUMN(error_bins,
                    "of a fail, how many elements are off by 0, and by at most "
                    "1/16, 1/8, 1/4, 1/2, 1, 2, 4, 8, 16 limits and more")});
  return table;
}

}  // namespace

template <>
const Table& TableOf<RunRow>() {
  using Row = RunRow;
  static const Table table = {
      "runs",
      {ASSAY_COLUMN(schema, "version of these tables"),
       ASSAY_COLUMN(run_id, "UTC time and a random part"),
       ASSAY_COLUMN(started_utc, "ISO 8601"),
       ASSAY_COLUMN(duration_s, "wall time of the whole run"),
       ASSAY_COLUMN(commit, "of the source tree, empty outside one"),
       ASSAY_COLUMN(dirty, "whether that tree had uncommitted changes"),
       ASSAY_COLUMN(assay_version, "release of this program"),
       ASSAY_COLUMN(corpus_hash, "digest of the corpora's manifests"),
       ASSAY_COLUMN(policy_hash, "digest of expectations, claims and floors"),
       ASSAY_COLUMN(env_id, "digest of the rows of env"),
       ASSAY_COLUMN(seed, "of everything random"),
       ASSAY_COLUMN(tier, "smoke, ci, nightly or scale"),
       ASSAY_COLUMN(command, "as typed"),
       ASSAY_COLUMN(n_planned, "cases times backends"),
       ASSAY_COLUMN(n_pass, "outcomes pass"),
       ASSAY_COLUMN(n_vacuous, "passes of cases that prove nothing"),
       ASSAY_COLUMN(n_waived, "outcomes waived"),
       ASSAY_COLUMN(n_fail, "outcomes fail"),
       ASSAY_COLUMN(n_suspect, "outcomes suspect"),
       ASSAY_COLUMN(n_unsupported, "outcomes unsupported"),
       ASSAY_COLUMN(n_unavailable, "outcomes unavailable"),
       ASSAY_COLUMN(n_xfail, "outcomes xfail"),
       ASSAY_COLUMN(n_xpass, "outcomes xpass"),
       ASSAY_COLUMN(n_flaky, "outcomes flaky"),
       ASSAY_COLUMN(n_error, "outcomes error"),
       ASSAY_COLUMN(n_crash, "outcomes crash"),
       ASSAY_COLUMN(n_timeout, "outcomes timeout"),
       ASSAY_COLUMN(n_missing, "outcomes missing"),
       ASSAY_COLUMN(complete, "0 for a filtered or unfinished run")}};
  return table;
}

template <>
const Table& TableOf<PlanRow>() {
  using Row = PlanRow;
  static const Table table = {
      "plan",
      {ASSAY_COLUMN(test_id, "suite/op/case[#variant]"),
       ASSAY_COLUMN(backend, "instance"),
       ASSAY_COLUMN(settings, "device:precision:optimisation:threads"),
       ASSAY_COLUMN(suite, "node, model, ..."),
       ASSAY_COLUMN(op, "operator under test, or a model's group"),
       ASSAY_COLUMN(domain, "of the operator, as ai.onnx"),
       ASSAY_COLUMN(opset, "version of that domain"),
       ASSAY_COLUMN(dtypes, "of all tensors, separated by spaces"),
       ASSAY_COLUMN(kind, "node, expanded, model"),
       ASSAY_COLUMN(needs, "resources, as mpi"),
       ASSAY_COLUMN(tier, "the least that takes it"),
       ASSAY_COLUMN(ranks, "that it runs on; 0: a network, in one process"),
       ASSAY_COLUMN(transport, "that carries messages between ranks"),
       ASSAY_COLUMN(corpus, "name of the corpus"),
       ASSAY_COLUMN(directory, "of the case's files"),
       ASSAY_COLUMN(shape_sig, "shapes of the inputs"),
       ASSAY_COLUMN(comparator, "exact, tolerance, text, distribution, oracle"),
       ASSAY_COLUMN(rtol, "relative tolerance of the case"),
       ASSAY_COLUMN(atol, "absolute tolerance of the case"),
       ASSAY_COLUMN(limit_source, "where that tolerance comes from"),
       ASSAY_COLUMN(vacuous, "why a pass proves nothing, or empty"),
       ASSAY_COLUMN(n_data_sets, "of the case"),
       ASSAY_COLUMN(drawn, "whether its inputs are drawn for the run"),
       ASSAY_COLUMN(tolerate_rtol, "loosened, by a tolerate line"),
       ASSAY_COLUMN(tolerate_atol, "loosened, by a tolerate line"),
       ASSAY_COLUMN(tolerate_source, "file:line of that line"),
       ASSAY_COLUMN(expected, "outcome of a matching expect line"),
       ASSAY_COLUMN(expected_at_some_seeds,
                    "whether a pass is expected as well"),
       ASSAY_COLUMN(expected_source, "file:line of that line"),
       ASSAY_COLUMN(because, "its reason"),
       ASSAY_COLUMN(claimed, "whether the case is inside the claims"),
       ASSAY_COLUMN(probes,
                    "operators, of which it takes the first that loads"),
       ASSAY_COLUMN(sensitive, "inputs whose change must show in an output"),
       ASSAY_COLUMN(deterministic, "whether equal runs are claimed equal"),
       ASSAY_COLUMN(accumulator,
                    "claimed type of a gradient's sums, empty: the case's own"),
       ASSAY_COLUMN(oracle, "folder of exact answers, or empty"),
       ASSAY_COLUMN(oracle_outcome,
                    "of the oracle that was asked and has no answers"),
       ASSAY_COLUMN(oracle_message, "why it has none")}};
  return table;
}

template <>
const Table& TableOf<EnvRow>() {
  using Row = EnvRow;
  static const Table table = {"env",
                              {ASSAY_COLUMN(env_id, "digest of all rows"),
                               ASSAY_COLUMN(key, "cpu, kernel, compiler, ..."),
                               ASSAY_COLUMN(value, "as found")}};
  return table;
}

template <>
const Table& TableOf<BackendRow>() {
  using Row = BackendRow;
  static const Table table = {
      "backends",
      {ASSAY_COLUMN(run_id, "UTC time and a random part"),
       ASSAY_COLUMN(backend, "instance"),
       ASSAY_COLUMN(settings, "device:precision:optimisation:threads"),
       ASSAY_COLUMN(version, "of the library underneath"),
       ASSAY_COLUMN(build_id, "digest of all files that its workers ran"),
       ASSAY_COLUMN(module_sha256, "of the module's file"),
       ASSAY_COLUMN(device, "cpu, cuda:0, ..."),
       ASSAY_COLUMN(claims_json, "the claims as a list of sentences"),
       ASSAY_COLUMN(unavailable_reason, "empty when it ran"),
       ASSAY_COLUMN(reach,
                    "why its process could reach others; empty: it could "
                    "not"),
       ASSAY_COLUMN(isa,
                    "instruction sets that the library may take code of, by "
                    "its own names; empty: it does not tell")}};
  return table;
}

template <>
const Table& TableOf<ResultRow>() {
  using Row = ResultRow;
  static const Table table = CaseTable<Row>(
      "results",
      {ASSAY_COLUMN(suite, "node, model, ..."),
       ASSAY_COLUMN(op, "operator under test, or a model's group"),
       ASSAY_COLUMN(domain, "of the operator, as ai.onnx"),
       ASSAY_COLUMN(opset, "version of that domain"),
       ASSAY_COLUMN(dtype, "of all tensors, separated by spaces"),
       ASSAY_COLUMN(shape_sig, "shapes of the inputs"),
       ASSAY_COLUMN(outcome, "the verdict"),
       ASSAY_COLUMN(reason_code, "why it is not a pass"),
       ASSAY_COLUMN(message, "the same in words, with values"),
       ASSAY_COLUMN(vacuous, "a pass would prove nothing"),
       ASSAY_COLUMN(via_function, "ran as its function body"),
       ASSAY_COLUMN(placement, "what really computed"),
       ASSAY_COLUMN(seed, "of everything random"),
       ASSAY_COLUMN(started_us, "since the start of the run"),
       ASSAY_COLUMN(load_us, "Load"),
       ASSAY_COLUMN(run_us, "Bind, Forward, Synchronize, fetch"),
       ASSAY_COLUMN(judge_us, "Measure and Judge"),
       ASSAY_COLUMN(peak_rss_kb, "of the worker so far"),
       ASSAY_COLUMN(worker, "process that ran it"),
       ASSAY_COLUMN(limit_source, "where the tolerance comes from"),
       ASSAY_COLUMN(headroom, "1 exact, 0 at the limit, below: out"),
       ASSAY_COLUMN(repro, "command that gives the same outcome"),
       ASSAY_COLUMN(
           after, "cases run before it when it was repeated, ids by spaces")});
  return table;
}

template <>
const Table& TableOf<MutantRow>() {
  using Row = MutantRow;
  static const Table table = {
      "mutants",
      {ASSAY_COLUMN(mutant, "name of the defect"),
       ColumnOf<Row, &Row::mutant_class>("class", "what kind of defect"),
       ASSAY_COLUMN(suite, "a suite of cases, or harness"),
       ASSAY_COLUMN(expected_killer, "what is to see it"),
       ASSAY_COLUMN(killed_by, "what saw it first, or empty"),
       ASSAY_COLUMN(killed, "whether anything saw it"),
       ColumnOf<Row, &Row::killing_case>("case", "first case that failed"),
       ASSAY_COLUMN(build_id, "of the module, or of the program")}};
  return table;
}

const std::vector<const Table*>& Tables() { return AllTables(); }

bool AddTable(const Table& table) {
  AllTables().push_back(&table);
  return true;
}

const Table* FindTable(std::string_view name) {
  const auto found = std::ranges::find(AllTables(), name, &Table::name);
  return found == AllTables().end() ? nullptr : *found;
}

void TakeNumbers(const metric::ExactDifference& difference,
                 AccuracyNumbers* numbers) {
  for (const TakenNumber& number : Numbers()) number.take(difference, numbers);
}

bool TellsUlp(const Number& max_ulp, std::string_view worst_got,
              std::string_view worst_want) {
  return max_ulp.value_or(0) > 0 &&
         worst_got.starts_with('-') == worst_want.starts_with('-');
}

template <>
const Table& TableOf<AccuracyRow>() {
  static const Table table = AccuracyTable();
  return table;
}

}  // namespace assay::record

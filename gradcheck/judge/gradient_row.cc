// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/judge/gradient_row.h"

#include <utility>

#include "framework/core/text.h"

namespace assay {
namespace {

using Row = gradcheck::GradientRow;

/// The columns of a judge's findings on a gradient.
std::vector<record::Column> Found() {
  using record::ColumnOf;
  return {
      ASSAY_COLUMN(oracle_bound, "greatest, as a share of the limit"),
      ASSAY_COLUMN(n_forward, "runs of the network for the case"),
      ASSAY_COLUMN(n_backward, "backward runs for the case"),
      ASSAY_COLUMN(h_min, "least step of the differences"),
      ASSAY_COLUMN(h_max, "greatest step of the differences"),
      ASSAY_COLUMN(max_abs_err, "greatest distance from the exact gradient"),
      ASSAY_COLUMN(max_rel_err, "greatest of these over what is exact"),
      ASSAY_COLUMN(max_unit_err, "greatest in condition units"),
      ASSAY_COLUMN(p99_unit_err, "99th percentile in condition units"),
      ASSAY_COLUMN(rms_unit_err, "root mean square in condition units"),
      ASSAY_COLUMN(limit, "of the worst element"),
      ASSAY_COLUMN(hard_limit, "that no order of rounding exceeds, of it"),
      ASSAY_COLUMN(limit_units, "condition units there"),
      ASSAY_COLUMN(limit_depth, "depth of rounding there"),
      ASSAY_COLUMN(limit_bound, "how far off the exact one may be there"),
      ASSAY_COLUMN(hull_low, "least that is right there, at a kink"),
      ASSAY_COLUMN(hull_high, "greatest that is right there, at a kink"),
      ASSAY_COLUMN(limit_source, "what the limit is made of"),
      ASSAY_COLUMN(headroom, "1 - error / limit, of the worst element"),
      ASSAY_COLUMN(worst_index, "the element nearest to its limit or beyond"),
      ASSAY_COLUMN(want, "the exact gradient there"),
      ASSAY_COLUMN(got, "the backend's"),
      ASSAY_COLUMN(dir_err, "from differences of the backend's own outputs"),
      ASSAY_COLUMN(dir_bound, "how far that may be"),
      ASSAY_COLUMN(adjoint_err, "from the exact tangent, along signs"),
      ASSAY_COLUMN(adjoint_bound, "how far that may be"),
      ASSAY_COLUMN(linearity_err, "of twice the cotangent, in limits"),
      ASSAY_COLUMN(zero_ok, "a cotangent of zeros gives zeros"),
      ASSAY_COLUMN(missing_cotangent_ok, "a missing one is as zeros"),
      ASSAY_COLUMN(nan_mismatch, "NaN or infinity on one side only"),
      ASSAY_COLUMN(unknown, "elements that the oracle does not know"),
      ASSAY_COLUMN(kink_count, "elements at a kink or a tie"),
      ASSAY_COLUMN(kink_convention, "0, 1, first, last, split, mixed"),
      ASSAY_COLUMN(zero_share, "of the exact gradient"),
      ASSAY_COLUMN(distinct_results, "of two backward runs"),
      ASSAY_COLUMN(outcome, "of this gradient"),
      ASSAY_COLUMN(reason_code, "why it is not a plain pass"),
      ASSAY_COLUMN(forward_us, "one forward of the bound network"),
      ASSAY_COLUMN(backward_us, "this backward"),
      ASSAY_COLUMN(repro, "the command that repeats it")};
}

}  // namespace

template <>
const record::Table& record::TableOf<Row>() {
  static const Table table = [] {
    Table made = CaseTable<Row>(
        "gradients",
        {ColumnOf<Row, &Row::gradient_case>("case", "that this one is made of"),
         ASSAY_COLUMN(expanded, "a function body in the operator's place"),
         ASSAY_COLUMN(op, "operator under test"),
         ASSAY_COLUMN(domain, "of the operator, as ai.onnx"),
         ASSAY_COLUMN(opset, "version of that domain"),
         ASSAY_COLUMN(dtype, "of the gradient"),
         ASSAY_COLUMN(accumulator_dtype,
                      "whose roundoff the sums in the limit are in"),
         ASSAY_COLUMN(input, "that is differentiated by"),
         ASSAY_COLUMN(input_index, "from 0, among those"),
         ASSAY_COLUMN(shape, "of the input"),
         ASSAY_COLUMN(n_in, "elements of the input"),
         ASSAY_COLUMN(n_out, "elements of outputs that cotangents flow into"),
         ColumnOf<Row, &Row::case_class>("class",
                                         "smooth, kink, zero, unknown"),
         ASSAY_COLUMN(input_class, "official, redrawn, exact, kinks, field"),
         ASSAY_COLUMN(cotangent, "random 1, random 2, ones, one-hot"),
         ASSAY_COLUMN(oracle, "what the gradient is compared with")});
    const std::vector<Column> found = Found();
    made.columns.insert(made.columns.end(), found.begin(), found.end());
    return made;
  }();
  return table;
}

}  // namespace assay

namespace assay::gradcheck {
namespace {

using record::Outcome;
using record::ReasonCode;

const bool kAdded = record::AddTable(record::TableOf<GradientRow>());

}  // namespace

void AddFound(const Compared& found, GradientRow* row) {
  row->outcome = found.beyond > 0 || !found.mismatch.empty() ? "fail" : "pass";
  row->case_class = found.unknown == found.count ? "unknown"
                    : found.zeros == found.count ? "zero"
                    : found.kinks > 0            ? "kink"
                                                 : "smooth";
  row->kink_count = found.kinks;
  row->kink_convention = found.convention;
  row->unknown = found.unknown;
  row->nan_mismatch = found.nan_mismatch;
  row->oracle_bound = found.greatest_bound;
  row->limit_source = "units";
  row->max_abs_err = found.max_abs_err;
  row->max_rel_err = found.max_rel_err;
  row->max_unit_err = found.max_units;
  row->p99_unit_err = found.p99_units;
  row->rms_unit_err = found.rms_units;
  if (found.count > 0) {
    row->zero_share =
        static_cast<double>(found.zeros) / static_cast<double>(found.count);
  }
  if (found.worst.index >= 0) {
    row->worst_index = found.worst.index;
    row->want = found.worst.want;
    row->got = found.worst.got;
    row->limit = found.worst.limit;
    row->hard_limit = found.worst.hard_limit;
    row->limit_units = found.worst.units;
    row->limit_depth = found.worst.depth;
    row->limit_bound = found.worst.bound;
    if (found.worst.hull.has_value()) {
      row->hull_low = found.worst.hull->first;
      row->hull_high = found.worst.hull->second;
    }
    row->headroom = 1 - found.worst.share;
  }
}

std::vector<record::ReasonMeaning> Reasons() {
  return {
      {kFailForward,
       "the forward of a network loaded for gradients gives other outputs"},
      {kFailBackward, "a gradient differs from the exact one"},
      {kFailOracle, "the oracle's answer is missing, too wide or in doubt"},
      {kSubgradient,
       "at a kink the gradient is one of those that it may be there"},
      {kZero, "the exact gradient is zero everywhere"},
      {kNotDifferentiable, "nothing in the case can be differentiated"},
      {kMasked, "a derivative is infinite or none, and its product is open"},
      {kStochastic, "the gradient is that of the mask that was drawn"},
      {kVacuous, "no element of a gradient could be judged, or only zeros"},
      {kTooGreat,
       "the gradients hold, and the Jacobian is too great to be asked for"},
      {kNondeterministic, "a second backward gives other bits"},
  };
}

measure::Judgement Verdict(Outcome outcome, const char* reason,
                           std::string message) {
  return {outcome, ReasonCode(std::string(reason)), std::move(message)};
}

measure::Judgement Stopped(const Status& status) {
  if (status.code() == StatusCode::kUnsupported) {
    return {Outcome::kUnsupported, status.reason(), status.message()};
  }
  if (status.code() == StatusCode::kUnavailable) {
    return {Outcome::kUnavailable, status.reason(), status.message()};
  }
  return {Outcome::kError, status.reason(), status.message()};
}

measure::Judgement StoppedRunning(const Status& status, const char* when) {
  return {Outcome::kError, status.reason(),
          StrCat(when, ": ", status.message())};
}

}  // namespace assay::gradcheck

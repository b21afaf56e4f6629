// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/times/problem_row.h"

namespace assay {

template <>
const record::Table& record::TableOf<times::ProblemRow>() {
  using Row = times::ProblemRow;
  static const Table table = CaseTable<Row>(
      "problems",
      {ASSAY_COLUMN(problem_set, "that it is of, a benchmark or a network"),
       ASSAY_COLUMN(n_times, "how often the network has it"),
       ASSAY_COLUMN(axis, "the number by which those of its family differ"),
       ASSAY_COLUMN(size, "that number"),
       ASSAY_COLUMN(fate,
                    "timed, declined, too big by memory, too big by time, "
                    "failed"),
       ASSAY_COLUMN(needed_bytes, "of all its values at once"),
       ASSAY_COLUMN(flops, "floating-point operations of a call"),
       ASSAY_COLUMN(least_s, "that a call takes at the rates of the limits"),
       ASSAY_COLUMN(n_elements, "of its outputs"),
       ASSAY_COLUMN(n_judged,
                    "elements that an oracle knows, over all judged inputs")});
  return table;
}

template <>
const record::Table& record::TableOf<times::ScalingRow>() {
  using Row = times::ScalingRow;
  static const Table table = CaseTable<Row>(
      "scaling",
      {ASSAY_COLUMN(axis, "size, batch, threads: the number that differs"),
       ASSAY_COLUMN(sizes, "its values, separated by blanks"),
       ASSAY_COLUMN(median_ns, "of a call with warm caches, at each"),
       ASSAY_COLUMN(ci95_lo_ns, "least of its 95 % interval, nan for none"),
       ASSAY_COLUMN(ci95_hi_ns, "greatest of it"),
       ASSAY_COLUMN(exponent, "of time ~ size^exponent, by Theil and Sen"),
       ASSAY_COLUMN(ci95_lo, "least of its 95 % interval, by Kendall's law"),
       ASSAY_COLUMN(ci95_hi, "greatest of it; none below 5 sizes")});
  return table;
}

}  // namespace assay

namespace assay::times {
namespace {

const bool kProblemsAdded = record::AddTable(record::TableOf<ProblemRow>()) &&
                            record::AddTable(record::TableOf<ScalingRow>());

}  // namespace
}  // namespace assay::times

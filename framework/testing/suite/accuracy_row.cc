// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/accuracy_row.h"

#include <cmath>
#include <string>
#include <vector>

#include "framework/file/csv.h"

namespace assay::suite {
namespace {

/// "4:2:3 0:1:nan".
std::string WorstText(const std::vector<measure::Element>& elements) {
  std::vector<std::string> texts;
  for (const auto& [index, want, got] : elements) {
    texts.push_back(StrCat(index, ":", want, ":", got));
  }
  return Joined(texts, " ");
}

}  // namespace

record::AccuracyRow AccuracyRowOf(const measure::OutputMetrics& m) {
  record::AccuracyRow row;
  row.output_index = m.output_index;
  row.output_name = m.output_name;
  row.dtype = m.dtype;
  row.shape = m.shape;
  row.reference = m.reference;
  row.limit_source = m.limit.source;
  row.comparator = m.limit.comparator;
  if (!m.mismatch.empty()) return row;
  row.n_elem = m.n_elem;
  row.nan_mismatch = m.nan_mismatch;
  row.inf_mismatch = m.inf_mismatch;
  row.out_of_limit = m.out_of_limit;
  static_cast<record::AccuracyNumbers&>(row) = m;
  row.oracle_bound = m.oracle_bound;
  if (m.worst_index >= 0) row.worst_index = m.worst_index;
  row.worst_want = m.worst_want;
  row.worst_got = m.worst_got;
  row.worst = WorstText(m.worst);
  row.error_bins = Joined(m.error_bins, " ");
  row.atol = m.limit.atol;
  row.rtol = m.limit.rtol;
  if (m.limit.comparator == record::Comparator::kDistribution) {
    row.reference = "law";
    row.n_draws = m.n_draws;
    row.p_value = m.p_value;
    row.limit = m.p_limit;
  } else if (const auto want = file::ParseDouble(m.worst_want);
             want.has_value()) {
    row.limit = m.limit.atol + m.limit.rtol * std::abs(*want);
  }
  row.headroom = m.headroom;
  row.sign_of_zero_mismatch = m.sign_of_zero_mismatch;
  row.bitwise_equal = m.bitwise_equal;
  return row;
}

}  // namespace assay::suite

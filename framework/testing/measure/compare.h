// SPDX-License-Identifier: Apache-2.0
//
// OutputMetrics, all numbers that are taken of one output, and the distance of
// one value from the expected one, flattened to an entry per tensor. Measure
// calls it for each output.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/core/value.h"
#include "framework/metric/exact_difference.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/record/rows.h"

namespace assay::measure {

inline constexpr size_t kWorstElements = 8;

/// One element of an output, its numbers as text.
struct Element {
  int64_t index = 0;
  std::string want, got;
};

/// The distance of one output from what was expected. Sequences, optionals and
/// maps are flattened: one metric per tensor, named "y[2]" or "y{key}"; the
/// indices of a sparse tensor are "y.indices". An empty sequence and an
/// optional of none are metrics of no elements, whose dtype is their type.
/// Elements with want 0 and got not 0 are left out of max_rel_err; against an
/// oracle share_correctly_rounded is absent where its bound is too wide to
/// tell.
struct OutputMetrics : record::AccuracyNumbers {
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
  /// The first element with the largest |got - want| / (atol + rtol * |want|),
  /// a mismatch of NaN or infinity being infinite; of integers the first with
  /// the largest |got - want|; of strings the first mismatch. -1 when all are
  /// equal.
  int64_t worst_index = -1;
  std::string worst_want, worst_got;
  /// The elements with the largest ratios of an output that is out of limit and
  /// has numbers: at most kWorstElements, the largest first. Against an oracle
  /// they are the same elements, and `want` is the exact number.
  std::vector<Element> worst;
  /// How many elements of that output have a ratio of 0, of at most 1/16, 1/8,
  /// 1/4, 1/2, 1, 2, 4, 8, 16, and of more; in an exact comparison of the first
  /// and of the last kind alone.
  std::vector<int64_t> error_bins;
  /// 1 - that largest ratio: 1 is exact, 0 is at the limit, negative is out.
  /// 1 or -inf where the comparison is exact; absent without elements.
  std::optional<double> headroom;
  bool bitwise_equal = false;
  /// For a case judged by distribution: the draws, the smallest p-value of all
  /// counts times their number (1 at most), and what it may not be below. The
  /// element, probability and share of that count are worst_index, _want and
  /// _got; headroom is 1 - log(p_value) / log(p_limit).
  std::optional<int64_t> n_draws;
  std::optional<double> p_value, p_limit;
  cases::Limit limit;
  /// The name of the data that `got` was compared with, as in the column.
  std::string reference = "expected";
  /// For distances to an oracle: its greatest bound, in ULP.
  std::optional<double> oracle_bound;
};

/// An element as text: the shortest decimal that reads back as the same
/// number (as float32 for narrower floats), "nan", "inf", "-inf", "true",
/// "1+2j", or the first 40 characters of a string.
std::string ElementText(const Tensor& tensor, int64_t index);

/// Appends copies of `entry`, filled, to `metrics`: one per tensor of `want`,
/// at least one. Sparse tensors are compared in the form they come in.
void CompareValues(const Value& got, const Value& want,
                   const OutputMetrics& entry,
                   std::vector<OutputMetrics>& metrics);

/// The entry of a part of an output: "y[2]".
OutputMetrics Named(OutputMetrics entry, std::string_view suffix);

/// The difference of two numbers that a limit allows.
metric::Tolerance ToleranceOf(const cases::Limit& limit);

/// Takes the type and the shape.
void TakeType(const Tensor& got, OutputMetrics& entry);

/// Takes the element that is the worst, as text.
void TakeWorstTexts(const Tensor& got, const Tensor& want,
                    OutputMetrics& entry);

/// Copies the numbers of a difference; `entry.n_elem` is set already. Without
/// elements there is no headroom.
void TakeDifference(const metric::ExactDifference& difference,
                    OutputMetrics& entry);

}  // namespace assay::measure

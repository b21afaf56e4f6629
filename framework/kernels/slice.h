// SPDX-License-Identifier: Apache-2.0
//
// The parts of a tensor that Slice, Split and Pad copy: runs along each axis of
// the output. A kernel copies every combination of one run of each axis.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto runs,
//                          kernels::PadRuns("edge", 2, 1, 3, 1000));
//   // {to 0, from 0, step 0, count 3}, {to 3, from 1, step 1, count 2},
//   // {to 5, from 2, step 0, count 1}

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::inline v1::kernels {

/// `count` places of an axis of the output, from `to` on, and the places of the
/// input that they come from: `from`, `from + step`, ...
struct AxisRun {
  int64_t to = 0;
  int64_t from = 0;
  int64_t step = 1;
  int64_t count = 0;

  friend bool operator==(const AxisRun&, const AxisRun&) = default;
};

/// Slice-13 along one axis. Starts and ends count from the end when negative,
/// and are clamped to [0, extent], or to [0, extent - 1] and [-1, extent - 1]
/// when the step is negative. Invalid argument for a step of 0.
Result<AxisRun> SliceRun(int64_t start, int64_t end, int64_t step,
                         int64_t extent);

/// The inputs of a Slice; axes and steps may be absent.
struct SliceInputs {
  std::vector<int64_t> starts, ends;
  std::optional<std::vector<int64_t>> axes, steps;
};

/// One run for each axis of `shape`. Invalid argument when the lists differ in
/// length.
Result<std::vector<AxisRun>> SliceRuns(const SliceInputs& inputs,
                                       const Shape& shape);

/// Split-18: the extents of `outputs` parts of an axis, as given, or equal with
/// a smaller last one. Invalid argument when they do not make up the axis.
Result<std::vector<int64_t>> SplitExtents(
    const std::optional<std::vector<int64_t>>& given, int64_t outputs,
    int64_t extent);

/// Pads of every axis of that rank: begin and end, which are negative where
/// elements are taken off. All axes where `axes` is absent. Invalid argument
/// when lengths do not fit or a pad is beyond 2^40.
Result<std::vector<std::pair<int64_t, int64_t>>> ReadPads(
    std::span<const int64_t> pads,
    const std::optional<std::vector<int64_t>>& axes, int rank);

/// Pad-25 along an axis of `extent` elements, in the mode constant, edge,
/// reflect or wrap. No run writes what constant padding fills. Invalid argument
/// for another mode, for an extent of 0 in a mode that repeats, and for a
/// result of less than nothing; resource exhausted for more than `most` runs.
Result<std::vector<AxisRun>> PadRuns(std::string_view mode, int64_t begin,
                                     int64_t end, int64_t extent, size_t most);

}  // namespace assay::inline v1::kernels

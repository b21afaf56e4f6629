// SPDX-License-Identifier: Apache-2.0
//
// BatchPlace: which of its worker's cases runs, for what a suite does at the
// start, in the middle and at the end of a run.
//
//   if (worker::CasePlace().is_last()) roofs.MeasureAll("end");

#pragma once

#include <cstdint>

namespace assay::worker {

struct BatchPlace {
  int64_t index = 0;  // from 0
  int64_t count = 1;

  bool is_last() const { return index + 1 == count; }
  /// Where there are three or more.
  bool is_middle() const { return count > 2 && index == (count - 1) / 2; }
};

/// The place of the case that this process runs; the worker sets it. A program
/// without a batch runs the only case.
BatchPlace& CasePlace();

}  // namespace assay::worker

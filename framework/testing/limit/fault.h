// SPDX-License-Identifier: Apache-2.0
//
// The fault of an output that is held against an oracle's answer.
//
//   const std::string fault =
//       FaultOf(got, answer, {DType::kFloat32, row.rtol, row.atol});
//   if (!fault.empty()) Report(fault);

#pragma once

#include <cstdint>
#include <string>

#include "framework/core/tensor.h"
#include "framework/testing/measure/exact_answers.h"

namespace assay::limit {

/// What an output may be off by, beside the oracle's units.
struct OutputLimit {
  DType type = DType::kFloat32;
  double rtol = 0;
  double atol = 0;
};

/// The fault of an output in words; empty where there is none. An element may
/// be off by the tolerance or by its limit in units (limit.h), whichever is
/// more, and by the oracle's bound. `answer` has its bound and units in
/// float64; what the oracle does not know is passed over.
std::string FaultOf(const Tensor& got, const measure::ExactAnswer& answer,
                    const OutputLimit& limit);

/// "element 9 is -1.5, wanted 1.5 within 1e-06", in so many digits that a
/// number of the type is told from its neighbours.
std::string InWords(int64_t index, double got, double want, double limit,
                    DType type);

}  // namespace assay::limit

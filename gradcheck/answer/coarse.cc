// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/answer/coarse.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "framework/metric/element.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {
namespace {

/// The least number of the digits of bfloat16 that is no less than `x`.
double RoundedUp(double x) {
  const int dropped = std::numeric_limits<double>::digits - 1 -
                      metric::RangeOf(DType::kBFloat16).digits;
  const uint64_t rest = (uint64_t{1} << dropped) - 1;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(x) + rest) & ~rest);
}

/// True for what bfloat16 has with all of its digits.
bool IsInRange(double x) {
  const metric::FloatRange range = metric::RangeOf(DType::kBFloat16);
  return x >= metric::PowerOfTwo(range.least) && x <= range.greatest;
}

}  // namespace

Result<Tensor> Coarse(Tensor numbers) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  std::vector<double> coarse;
  coarse.reserve(static_cast<size_t>(numbers.num_elements()));
  for (const double x : numbers.elements<double>()) {
    const bool is_kept = x == 0 || x == kUnknown;
    coarse.push_back(is_kept ? x : RoundedUp(x));
    if (!is_kept && !IsInRange(coarse.back())) return numbers;
  }
  return TensorOf(DType::kBFloat16, numbers.shape(), coarse);
}

}  // namespace assay::gradcheck

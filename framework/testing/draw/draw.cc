// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/draw/draw.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "framework/core/text.h"
#include "framework/metric/element.h"

namespace assay::draw {
namespace {

/// The float nearest to `x` in size below it, with its last bit set where that
/// is not `x`: rounded to 16 bits it gives what `x` does (Boldo and Melquiond,
/// Emulation of FMA and Correctly Rounded Sums, 2008).
float RoundedToOdd(double x) {
  auto near = static_cast<float>(x);
  if (near == x || std::isnan(x)) return near;
  if (std::abs(near) > std::abs(x)) near = std::nextafter(near, 0.0F);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(near) | 1);
}

template <class Half>
void Round(std::span<const double> numbers, std::byte* out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto half = static_cast<Half>(RoundedToOdd(numbers[i]));
    std::memcpy(out + i * sizeof half, &half, sizeof half);
  }
}

/// The range that numbers are drawn from.
std::pair<double, double> RangeOf(const std::vector<double>& numbers) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const double x : numbers) {
    if (!std::isfinite(x)) continue;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (low < high) return {low, high};
  if (low > high || low == 0) return {-1, 1};
  return std::minmax(low / 2, low * 1.5);
}

}  // namespace

Draw::Draw(std::string_view test_id, int64_t seed, std::string_view purpose)
    : numbers_(core::StableHash(StrCat(test_id, "\n", seed, "\n", purpose))) {}

bool Carries(DType type) { return IsFloatingPoint(type) && BitsOf(type) >= 16; }

std::vector<double> NumbersOf(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat32) {
    const auto floats = tensor.elements<float>();
    return {floats.begin(), floats.end()};
  }
  if (tensor.dtype() == DType::kFloat64) {
    const auto doubles = tensor.elements<double>();
    return {doubles.begin(), doubles.end()};
  }
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = metric::DecodeFloat(
        tensor.dtype(), metric::ElementBits(tensor.dtype(), tensor.data(),
                                            static_cast<int64_t>(i)));
  }
  return numbers;
}

Result<Tensor> TensorOf(DType type, const Shape& shape,
                        std::span<const double> numbers) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  std::byte* const out = tensor.mutable_data();
  switch (type) {
    case DType::kFloat16:
      Round<Eigen::half>(numbers, out);
      break;
    case DType::kBFloat16:
      Round<Eigen::bfloat16>(numbers, out);
      break;
    case DType::kFloat32:
      std::ranges::copy(numbers, tensor.mutable_elements<float>().begin());
      break;
    case DType::kFloat64:
      std::ranges::copy(numbers, tensor.mutable_elements<double>().begin());
      break;
    default:
      return Unsupported(Reason::kDType, "no numbers of type ", type,
                         " are drawn");
  }
  return tensor;
}

std::vector<int64_t> Permutation(int64_t n, Draw& draw) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = i;
  for (int64_t i = n; i > 1; --i) {
    std::swap(order[static_cast<size_t>(i - 1)],
              order[static_cast<size_t>(draw.Index(i))]);
  }
  return order;
}

Result<Tensor> Redrawn(const Tensor& official, Draw& draw) {
  std::vector<double> numbers = NumbersOf(official);
  const auto [low, high] = RangeOf(numbers);
  const std::vector<int64_t> cells =
      Permutation(static_cast<int64_t>(numbers.size()), draw);
  const double width = (high - low) / static_cast<double>(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    // The middle half of a cell, so that two numbers are apart.
    const double at =
        static_cast<double>(cells[i]) + 0.25 + 0.5 * draw.Uniform();
    if (std::isfinite(numbers[i])) numbers[i] = low + at * width;
  }
  return TensorOf(official.dtype(), official.shape(), numbers);
}

}  // namespace assay::draw

// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/codec.h"

namespace assay::faulty {
namespace {

/// Bytes of an element; 0 where elements have no bytes of their own.
size_t WidthOf(DType type) {
  const int bits = BitsOf(type);
  return bits % 8 == 0 ? static_cast<size_t>(bits / 8) : 0;
}

}  // namespace

bool HasNumbers(const Tensor& tensor) {
  return reference::ScalarOf(tensor.dtype()) != reference::ScalarKind::kNone;
}

std::vector<double> Numbers(const Tensor& tensor) {
  if (!HasNumbers(tensor)) return {};
  std::vector<double> numbers(static_cast<size_t>(tensor.num_elements()));
  reference::Decode(tensor, numbers.data());
  return numbers;
}

std::vector<double> NumbersAs(const Tensor& tensor, const Shape& to) {
  const std::vector<double> numbers = Numbers(tensor);
  std::vector<double> wide;
  const reference::Nest<1> nest(
      to, {reference::BroadcastStrides(tensor.shape(), to)});
  nest.ForEachRow([&](const reference::Nest<1>::Row& row) {
    for (int64_t i = 0; i < row.count; ++i) {
      wide.push_back(numbers[static_cast<size_t>(row.at[0] + i * row.step[0])]);
    }
  });
  return wide;
}

Result<Tensor> OfNumbers(DType type, const Shape& shape,
                         const std::vector<double>& numbers) {
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type, shape));
  if (HasNumbers(tensor)) reference::Encode(numbers.data(), tensor);
  return tensor;
}

Result<Tensor> WithNumbers(const Tensor& right, const Change& change) {
  ASSAY_ASSIGN_OR_RETURN(Tensor changed, right.Clone());
  if (!HasNumbers(right)) return changed;
  const std::vector<double> before = Numbers(right);
  std::vector<double> after = before;
  for (size_t i = 0; i < after.size(); ++i) {
    after[i] = change(static_cast<int64_t>(i), before[i]);
  }
  ASSAY_ASSIGN_OR_RETURN(const Tensor encoded,
                         OfNumbers(right.dtype(), right.shape(), after));
  const size_t width = WidthOf(right.dtype());
  if (width == 0) return encoded;
  for (size_t i = 0; i < after.size(); ++i) {
    if (std::bit_cast<uint64_t>(before[i]) ==
        std::bit_cast<uint64_t>(after[i])) {
      continue;
    }
    std::memcpy(changed.mutable_data() + i * width, encoded.data() + i * width,
                width);
  }
  return changed;
}

Result<Tensor> Picked(const Tensor& from, Shape shape,
                      const std::vector<int64_t>& places) {
  const bool is_string = from.dtype() == DType::kString;
  const size_t width = WidthOf(from.dtype());
  if (width == 0 && !is_string) return from.Clone();
  ASSAY_ASSIGN_OR_RETURN(Tensor picked,
                         Tensor::Allocate(from.dtype(), std::move(shape)));
  for (size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<size_t>(places[i]);
    if (is_string) {
      picked.mutable_strings()[i] = from.strings()[place];
    } else {
      std::memcpy(picked.mutable_data() + i * width,
                  from.data() + place * width, width);
    }
  }
  return picked;
}

Result<Tensor> Transposed(const Tensor& from, const std::vector<int>& perm) {
  if (std::cmp_not_equal(perm.size(), from.shape().rank())) return from.Clone();
  const reference::Strides dense = reference::DenseStrides(from.shape());
  std::vector<int64_t> dims;
  reference::Strides strides;
  for (const int axis : perm) {
    dims.push_back(from.shape()[axis]);
    strides.push_back(dense[static_cast<size_t>(axis)]);
  }
  const Shape shape(dims);
  std::vector<int64_t> places;
  reference::Nest<1>(shape, {strides})
      .ForEachRow([&](const reference::Nest<1>::Row& row) {
        for (int64_t i = 0; i < row.count; ++i) {
          places.push_back(row.at[0] + i * row.step[0]);
        }
      });
  return Picked(from, shape, places);
}

Result<Tensor> Cut(const Tensor& from, int axis, int64_t begin, int64_t count) {
  ASSAY_ASSIGN_OR_RETURN(const auto view,
                         reference::AxisView::Of(from.shape(), axis));
  std::vector<int64_t> places;
  for (int64_t block = 0; block < view.outer; ++block) {
    for (int64_t i = 0; i < count * view.inner; ++i) {
      places.push_back((block * view.count + begin) * view.inner + i);
    }
  }
  Shape shape = from.shape();
  shape[axis] = count;
  return Picked(from, shape, places);
}

Status ChangeTensor(
    Value& value, const std::function<Result<Tensor>(const Tensor&)>& change) {
  const Tensor* tensor = value.tensor();
  if (tensor == nullptr || tensor->num_elements() == 0) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Tensor changed, change(*tensor));
  value = std::move(changed);
  return OkStatus();
}

Status ChangeNumbers(Value& value, const Change& change) {
  return ChangeTensor(
      value, [&](const Tensor& tensor) { return WithNumbers(tensor, change); });
}

Status ChangeFloats(Value& value, const Change& change) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && IsFloatingPoint(tensor->dtype())
             ? ChangeNumbers(value, change)
             : OkStatus();
}

Status ChangeAllFloats(std::vector<Value>& values, const Change& change) {
  for (Value& value : values) {
    ASSAY_RETURN_IF_ERROR(ChangeFloats(value, change));
  }
  return OkStatus();
}

double SmallestNormal(DType type) {
  if (type == DType::kFloat16) return std::ldexp(1.0, -14);
  if (type == DType::kFloat64) return std::numeric_limits<double>::min();
  const bool single = type == DType::kBFloat16 || type == DType::kFloat32;
  return single ? std::numeric_limits<float>::min() : 0;
}

double LargestFinite(DType type) {
  if (type == DType::kFloat16) return 65504;
  if (type == DType::kBFloat16) return std::ldexp(255.0, 120);
  if (type == DType::kFloat32) return std::numeric_limits<float>::max();
  if (type == DType::kFloat64) return std::numeric_limits<double>::max();
  return std::numeric_limits<double>::infinity();
}

std::pair<double, double> IntegerRange(DType type) {
  const int bits = BitsOf(type);
  if (bits > 32) return {0, 0};
  if (ClassOf(type) == DTypeClass::kSigned) {
    return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  }
  if (ClassOf(type) == DTypeClass::kUnsigned) {
    return {0, std::ldexp(1.0, bits) - 1};
  }
  return {0, 0};
}

double RoundedTo(int bits, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)),
                    exponent - bits);
}

}  // namespace assay::faulty

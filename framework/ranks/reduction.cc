// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/reduction.h"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

namespace assay::ranks {
namespace {

/// minimum and maximum of IEEE 754-2019: -0 is below +0, and a NaN propagates.
template <class T>
T Extreme(T a, T b, bool is_least) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    if (a == b) return std::signbit(a) == is_least ? a : b;
  }
  return (a < b) == is_least ? a : b;
}

/// A type whose overflow is defined.
template <class T>
struct Arithmetic : std::type_identity<T> {};
template <std::integral T>
struct Arithmetic<T> : std::make_unsigned<T> {};

template <class T>
T Combined(Reduction reduction, T a, T b) {
  using Number = typename Arithmetic<T>::type;
  switch (reduction) {
    case Reduction::kSum:
      return static_cast<T>(static_cast<Number>(a) + static_cast<Number>(b));
    case Reduction::kProduct:
      return static_cast<T>(static_cast<Number>(a) * static_cast<Number>(b));
    case Reduction::kMin:
      return Extreme(a, b, /*is_least=*/true);
    case Reduction::kMax:
      break;
  }
  return Extreme(a, b, /*is_least=*/false);
}

template <class T>
void CombineAs(Reduction reduction, std::span<const std::byte> came,
               std::span<std::byte> own) {
  for (size_t at = 0; at < own.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, own.data() + at, sizeof(T));
    std::memcpy(&b, came.data() + at, sizeof(T));
    const T both = Combined(reduction, a, b);
    std::memcpy(own.data() + at, &both, sizeof(T));
  }
}

}  // namespace

Result<std::span<std::byte>> BytesOf(Part part, Tensor* tensor) {
  constexpr int kBitsOfByte = 8;
  const int bits = BitsOf(tensor->dtype());
  if (bits == 0 || bits % kBitsOfByte != 0) {
    return Unsupported(Reason::kDType, "found the type ",
                       ToString(tensor->dtype()),
                       ", wanted one of whole bytes");
  }
  if (part.begin < 0 || part.count < 0 ||
      part.begin > tensor->num_elements() - part.count) {
    return InvalidArgument("found the elements from ", part.begin, " to ",
                           part.begin + part.count, ", wanted some of the ",
                           tensor->num_elements(), " of the buffer");
  }
  const int64_t size = bits / kBitsOfByte;
  return std::span(tensor->mutable_data(),
                   static_cast<size_t>(tensor->num_elements() * size))
      .subspan(static_cast<size_t>(part.begin * size),
               static_cast<size_t>(part.count * size));
}

Status Combine(Reduction reduction, std::span<const std::byte> came, Part part,
               Tensor* tensor) {
  ASSAY_ASSIGN_OR_RETURN(const std::span<std::byte> own, BytesOf(part, tensor));
  if (came.size() != own.size()) {
    return InvalidArgument("found ", came.size(), " bytes, wanted ",
                           own.size());
  }
  switch (tensor->dtype()) {
    case DType::kFloat32:
      CombineAs<float>(reduction, came, own);
      return OkStatus();
    case DType::kFloat64:
      CombineAs<double>(reduction, came, own);
      return OkStatus();
    case DType::kInt32:
      CombineAs<int32_t>(reduction, came, own);
      return OkStatus();
    case DType::kInt64:
      CombineAs<int64_t>(reduction, came, own);
      return OkStatus();
    default:
      return Unsupported(Reason::kDType, "found the type ",
                         ToString(tensor->dtype()),
                         ", wanted float32, float64, int32 or int64");
  }
}

}  // namespace assay::ranks

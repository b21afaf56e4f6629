// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/codec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/reference/scalar/scalar.h"
#include "framework/backend/backend.h"

namespace assay::reference {
namespace {

// Bits [i * width, (i + 1) * width) of a byte string, lowest first.
uint32_t ReadCode(const std::byte* bytes, int width, int64_t i) {
  if (width == 16) return reinterpret_cast<const uint16_t*>(bytes)[i];
  if (width == 8) return static_cast<uint32_t>(bytes[i]);
  const int64_t first = i * width;
  const int shift = static_cast<int>(first % 8);
  uint32_t code = static_cast<uint32_t>(bytes[first / 8]) >> shift;
  if (shift + width > 8) {
    code |= static_cast<uint32_t>(bytes[first / 8 + 1]) << (8 - shift);
  }
  return code & ((1U << width) - 1);
}

// The bits must be zero before: fresh packed tensors are cleared by Encode.
void WriteCode(std::byte* bytes, int width, int64_t i, uint32_t code) {
  if (width == 16) {
    reinterpret_cast<uint16_t*>(bytes)[i] = static_cast<uint16_t>(code);
    return;
  }
  if (width == 8) {
    bytes[i] = static_cast<std::byte>(code);
    return;
  }
  const int64_t first = i * width;
  const int shift = static_cast<int>(first % 8);
  code &= (1U << width) - 1;
  bytes[first / 8] |= static_cast<std::byte>(code << shift);
  if (shift + width > 8) {
    bytes[first / 8 + 1] |= static_cast<std::byte>(code >> (8 - shift));
  }
}

// float8e8m0: 2 to the power of (code - 127), 255 is NaN; no sign, no zero.
constexpr int kScaleBias = 127;
constexpr uint32_t kScaleNan = 255;

double DecodeScale(uint32_t code) {
  return code == kScaleNan
             ? std::numeric_limits<double>::quiet_NaN()
             : std::ldexp(1.0, static_cast<int>(code) - kScaleBias);
}

// ONNX Cast, round_mode: what becomes of a value between two powers of two.
uint32_t EncodeScale(double value, const Rounding& rounding) {
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return kScaleNan;
  if (std::isinf(value)) {
    return rounding.overflow == Overflow::kSaturate ? kScaleNan - 1 : kScaleNan;
  }
  if (magnitude == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [1/2, 1)
  const bool up = rounding.scale == ScaleRounding::kUp     ? fraction > 0.5
                  : rounding.scale == ScaleRounding::kDown ? false
                                                           : fraction >= 0.75;
  const int code = exponent - 1 + (up ? 1 : 0) + kScaleBias;
  if (code > 254 && rounding.overflow != Overflow::kSaturate) return kScaleNan;
  return static_cast<uint32_t>(std::clamp(code, 0, 254));
}

// A double that rounds to any format of up to 51 bits as `x` itself does: what
// is below its last bit is kept as a sticky bit.
template <class T>
double ToDouble(T x) {
  if constexpr (std::floating_point<T>) {
    return static_cast<double>(x);
  } else {
    constexpr uint64_t kLow = 0x7FF;  // the bits that 53 may not hold
    const bool negative = x < T(0);
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    if (magnitude >> 53 == 0) return static_cast<double>(x);
    const uint64_t sticky = (magnitude & kLow) != 0 ? kLow + 1 : 0;
    const auto odd = static_cast<double>((magnitude & ~kLow) | sticky);
    return negative ? -odd : odd;
  }
}

// Truncation; beyond int64 or uint64 the nearest there is, 0 for NaN.
template <class T>
uint64_t ToBits(T x) {
  if constexpr (std::integral<T>) {
    return static_cast<uint64_t>(x);
  } else {
    if (std::isnan(x)) return 0;
    const T limit = std::ldexp(T(1), 63);
    if (x >= 2 * limit) return UINT64_MAX;
    if (x >= limit) return static_cast<uint64_t>(x);
    if (x < -limit) return static_cast<uint64_t>(INT64_MIN);
    return static_cast<uint64_t>(static_cast<int64_t>(x));
  }
}

// The number to be cut; of a Var it is noted that the whole number shows.
template <class T>
auto Truncated(T x) {
  if constexpr (std::same_as<T, Var>) {
    // Both sides of 0 are cut to it.
    for (const double whole : {std::floor(x.value()), std::ceil(x.value())}) {
      if (whole != 0) static_cast<void>(Equal(x, Var(whole)));
    }
  }
  return Value(x);
}

// As C++ converts; of a Var its number, and a number as a constant.
template <class To, class From>
To Converted(From x) {
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (std::integral<To> && !std::integral<From>) {
    return static_cast<To>(Truncated(x));
  } else {
    return static_cast<To>(Value(x));
  }
}

// Calls body.operator()<E>() for element types that C++ has.
template <class Body>
bool DispatchElement(DType type, Body&& body) {
  const auto call = [&]<class... Es>(Scalars<Es...>) {
    return ((type == kDTypeOf<Es> && (body.template operator()<Es>(), true)) ||
            ...);
  };
  return call(Scalars<float, double, bool, int8_t, int16_t, int32_t, int64_t,
                      uint8_t, uint16_t, uint32_t, uint64_t, Var>{});
}

// The largest number of the type that Vars stand for, where all beyond it
// become that one; else none is too large.
double LargestOf(const Rounding& rounding) {
  const FloatFormat* format = FindFloatFormat(rounding.traced);
  const bool saturates =
      format != nullptr && (rounding.overflow == Overflow::kSaturate ||
                            format->specials == Specials::kNone);
  return saturates ? format->Largest()
                   : std::numeric_limits<double>::infinity();
}

Var Saturated(Var x, double largest) {
  if (std::isinf(largest)) return x;
  return Max(Min(x, Var(largest)), Var(-largest));
}

template <class T>
T DecodeInteger(uint32_t code, DType type) {
  const int width = BitsOf(type);
  const bool negative =
      ClassOf(type) == DTypeClass::kSigned && (code >> (width - 1)) != 0;
  return static_cast<T>(static_cast<int64_t>(code) -
                        (negative ? int64_t{1} << width : 0));
}

}  // namespace

ScalarKind ScalarOf(DType type) {
  switch (ClassOf(type)) {
    case DTypeClass::kFloat:
      return type == DType::kFloat64 ? ScalarKind::kDouble : ScalarKind::kFloat;
    case DTypeClass::kSigned:
      return ScalarKind::kInt64;
    case DTypeClass::kUnsigned:
    case DTypeClass::kBool:
      return ScalarKind::kUint64;
    default:
      return ScalarKind::kNone;
  }
}

ScalarKind ScalarOf(const LoadContext& load, Input input) {
  const DType type = load.dtype(input);
  return load.options().exact && IsFloatingPoint(type) ? ScalarKind::kVar
                                                       : ScalarOf(type);
}

template <class T>
void Decode(const Tensor& tensor, T* values) {
  const DType type = tensor.dtype();
  const int64_t count = tensor.num_elements();
  const bool native = DispatchElement(type, [&]<class E>() {
    std::ranges::transform(tensor.elements<E>(), values,
                           [](E x) { return Converted<T>(x); });
  });
  if (native) return;
  const FloatFormat* format = FindFloatFormat(type);
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t code = ReadCode(tensor.data(), BitsOf(type), i);
    values[i] = format != nullptr ? static_cast<T>(format->Decode(code))
                : type == DType::kFloat8E8M0 ? static_cast<T>(DecodeScale(code))
                                             : DecodeInteger<T>(code, type);
  }
}

template <class T>
void Encode(const T* values, Tensor& tensor, const Rounding& rounding) {
  const DType type = tensor.dtype();
  const int64_t count = tensor.num_elements();
  const double largest = LargestOf(rounding);
  const bool native = DispatchElement(type, [&]<class E>() {
    std::transform(values, values + count, tensor.mutable_elements<E>().data(),
                   [&](T x) {
                     if constexpr (std::same_as<E, bool>) {
                       return !Equal(x, T(0));
                     } else if constexpr (std::same_as<E, Var>) {
                       return Saturated(Converted<E>(x), largest);
                     } else if constexpr (std::integral<E>) {
                       return static_cast<E>(ToBits(Truncated(x)));
                     } else {
                       return Converted<E>(x);
                     }
                   });
  });
  if (native) return;
  const FloatFormat* format = FindFloatFormat(type);
  std::fill_n(tensor.mutable_data(), tensor.byte_size(), std::byte{0});
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t code =
        format != nullptr
            ? format->Encode(ToDouble(Value(values[i])), rounding.overflow)
        : type == DType::kFloat8E8M0
            ? EncodeScale(ToDouble(Value(values[i])), rounding)
            : static_cast<uint32_t>(ToBits(Truncated(values[i])));
    WriteCode(tensor.mutable_data(), BitsOf(type), i, code);
  }
}

template void Decode(const Tensor&, float*);
template void Decode(const Tensor&, double*);
template void Decode(const Tensor&, Var*);
template void Decode(const Tensor&, int64_t*);
template void Decode(const Tensor&, uint64_t*);
template void Encode(const float*, Tensor&, const Rounding&);
template void Encode(const double*, Tensor&, const Rounding&);
template void Encode(const Var*, Tensor&, const Rounding&);
template void Encode(const int64_t*, Tensor&, const Rounding&);
template void Encode(const uint64_t*, Tensor&, const Rounding&);

void UnpackCodes(const Tensor& tensor, uint8_t* codes) {
  const int width = BitsOf(tensor.dtype());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    codes[i] = static_cast<uint8_t>(ReadCode(tensor.data(), width, i));
  }
}

void PackCodes(const uint8_t* codes, Tensor& tensor) {
  const int width = BitsOf(tensor.dtype());
  std::fill_n(tensor.mutable_data(), tensor.byte_size(), std::byte{0});
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    WriteCode(tensor.mutable_data(), width, i, codes[i]);
  }
}

Status DeclineType(const LoadContext& load, Input input,
                   std::string_view wanted) {
  return Unsupported(Reason::kDType, "input ", std::to_string(input.position),
                     " is ", load.type(input).ToString(), ", wanted ", wanted);
}

Status CheckMovable(const LoadContext& load, Input input) {
  if (DispatchUnit(load.dtype(input), []<class>() {})) return OkStatus();
  return DeclineType(load, input, "a tensor with elements of whole bytes");
}

template <>
void Decode(const Tensor& tensor, Complex* values) {
  if (tensor.dtype() == DType::kComplex64) {
    std::ranges::copy(tensor.elements<std::complex<float>>(), values);
  } else {
    std::ranges::copy(tensor.elements<Complex>(), values);
  }
}

template <>
void Encode(const Complex* values, Tensor& tensor, const Rounding&) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  if (tensor.dtype() == DType::kComplex64) {
    std::transform(
        values, values + count,
        tensor.mutable_elements<std::complex<float>>().begin(),
        [](const Complex& x) { return static_cast<std::complex<float>>(x); });
  } else {
    std::copy_n(values, count, tensor.mutable_elements<Complex>().begin());
  }
}

std::pmr::memory_resource& ScratchMemory() {
#ifdef __SANITIZE_ADDRESS__
  // Which sees no access beyond a block that lies in a pool.
  return *std::pmr::new_delete_resource();
#else
  // Each block by itself: the pool would ask for sixteen of a size at once.
  thread_local std::pmr::unsynchronized_pool_resource pool(
      std::pmr::pool_options{.max_blocks_per_chunk = 1,
                             .largest_required_pool_block = size_t{4} << 20});
  return pool;
#endif
}

}  // namespace assay::reference

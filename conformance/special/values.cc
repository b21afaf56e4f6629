// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/values.h"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "framework/metric/element.h"

namespace assay::inline v1 {
namespace {

// The float16 nearest below in size; that it is the number itself is for the
// caller to see.
uint64_t Float16Bits(double number) {
  const uint64_t sign = std::signbit(number) ? 0x8000 : 0;
  if (std::isnan(number)) return 0x7E00;
  if (std::isinf(number)) return sign | 0x7C00;
  const double size = std::abs(number);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), -14);
  if (exponent > 15) return sign | 0x7BFF;
  const auto units = static_cast<uint64_t>(std::ldexp(size, 10 - exponent));
  // The hidden bit of a normal number is one of the exponent.
  return sign | ((static_cast<uint64_t>(exponent + 14) << 10) + units);
}

uint64_t SmallFloatBits(DType type, double number) {
  for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
    const double value = DecodeFloat(type, bits);
    if (std::isnan(number) ? std::isnan(value)
                           : std::bit_cast<uint64_t>(value) ==
                                 std::bit_cast<uint64_t>(number)) {
      return bits;
    }
  }
  return 0;
}

uint64_t FloatBits(DType type, double number) {
  const auto single = std::bit_cast<uint32_t>(static_cast<float>(number));
  switch (type) {
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(number);
    case DType::kFloat32:
      return single;
    case DType::kBFloat16:
      return single >> 16;
    case DType::kFloat16:
      return Float16Bits(number);
    default:
      return SmallFloatBits(type, number);
  }
}

[[noreturn]] void Refuse(DType type, double number) {
  throw std::invalid_argument(StrCat(
      "found ", number, ", wanted a number that ", ToString(type), " has"));
}

// `number` as an integer of that type, or nothing like it.
uint64_t IntegerBits(DType type, double number) {
  const int width = type == DType::kBool ? 1 : BitsOf(type);
  const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
  const double low = is_signed ? -std::ldexp(1, width - 1) : 0;
  const double high = std::ldexp(1, is_signed ? width - 1 : width);
  if (number != std::trunc(number) || number < low || number >= high) {
    Refuse(type, number);
  }
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(number))
                   : static_cast<uint64_t>(number);
}

// Packs bits(i) for every element, lowest bit first.
template <class Bits>
Value Pack(DType type, const Shape& shape, const Bits& bits) {
  Tensor tensor = Tensor::Allocate(type, shape).value();
  const int width = BitsOf(type);
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const uint64_t element = bits(i);
    for (int k = 0; k < width;) {
      const int64_t at = i * width + k;
      const int count = std::min(width - k, 8 - static_cast<int>(at % 8));
      const uint64_t part = (element >> k) & ((1ULL << count) - 1);
      bytes[at / 8] |= static_cast<uint8_t>(part << (at % 8));
      k += count;
    }
  }
  return tensor;
}

void CheckCount(const Shape& shape, size_t found) {
  if (static_cast<size_t>(shape.NumElements().value()) == found) return;
  throw std::invalid_argument(
      StrCat("found ", found, " numbers, wanted those of ", shape.ToString()));
}

}  // namespace

uint64_t EncodeExactly(DType type, double number) {
  if (!IsFloatingPoint(type)) return IntegerBits(type, number);
  const uint64_t bits = FloatBits(type, number);
  const double value = DecodeFloat(type, bits);
  const bool same = std::isnan(number) ? std::isnan(value)
                                       : std::bit_cast<uint64_t>(value) ==
                                             std::bit_cast<uint64_t>(number);
  if (!same) Refuse(type, number);
  return bits;
}

Value Of(DType type, const Shape& shape,
         std::initializer_list<double> numbers) {
  CheckCount(shape, numbers.size());
  return By(type, shape, [&](int64_t i) { return numbers.begin()[i]; });
}

Value All(DType type, const Shape& shape, double number) {
  const uint64_t bits = EncodeExactly(type, number);
  return Pack(type, shape, [&](int64_t) { return bits; });
}

Value By(DType type, const Shape& shape,
         const std::function<double(int64_t)>& formula) {
  return Pack(type, shape,
              [&](int64_t i) { return EncodeExactly(type, formula(i)); });
}

Value Whole(DType type, const Shape& shape,
            std::initializer_list<int64_t> numbers) {
  CheckCount(shape, numbers.size());
  return WholeBy(type, shape, [&](int64_t i) { return numbers.begin()[i]; });
}

Value WholeBy(DType type, const Shape& shape,
              const std::function<int64_t(int64_t)>& formula) {
  return Pack(type, shape, [&](int64_t i) {
    const int64_t number = formula(i);
    if (BitsOf(type) == 64) return static_cast<uint64_t>(number);
    return EncodeExactly(type, static_cast<double>(number));
  });
}

Value Texts(const Shape& shape, std::vector<std::string> texts) {
  return Tensor::FromStrings(shape, std::move(texts)).value();
}

Value ListOf(Values items) {
  Sequence sequence;
  sequence.element = items.at(0).Type();
  sequence.items = std::move(items);
  return sequence;
}

Value MapOf(const Value& keys, const Value& elements) {
  const Tensor& tensor = *elements.tensor();
  CheckCount(keys.tensor()->shape(),
             static_cast<size_t>(tensor.num_elements()));
  Map map{*keys.tensor(), {}};
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (tensor.dtype() == DType::kString) {
      map.values.push_back(
          Texts({}, {tensor.strings()[static_cast<size_t>(i)]}));
    } else {
      const auto width = static_cast<size_t>(BitsOf(tensor.dtype()) / 8);
      const auto bytes =
          tensor.bytes().subspan(static_cast<size_t>(i) * width, width);
      map.values.push_back(
          Tensor::FromBytes(tensor.dtype(), {}, bytes).value());
    }
  }
  return map;
}

}  // namespace assay::inline v1

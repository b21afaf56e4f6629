// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/compare_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <complex>

#include "framework/metric/element.h"

namespace assay::measure {
namespace {

constexpr size_t kMaxCharacters = 40;

template <class Number>
std::string NumberText(Number number) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(number)) return "nan";  // to_chars may print its sign
  }
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

template <class Real>
std::string ComplexText(std::complex<Real> z) {
  std::string imaginary = NumberText(z.imag());
  if (imaginary[0] != '-') imaginary.insert(0, 1, '+');
  return NumberText(z.real()) + imaginary + "j";
}

// Cut between characters of UTF-8, not within one.
std::string Shortened(const std::string& text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts_one = (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    if (starts_one && ++characters > kMaxCharacters) {
      return text.substr(0, i) + "...";
    }
  }
  return text;
}

std::string IntegerText(DType type, uint64_t bits) {
  if (ClassOf(type) == DTypeClass::kSigned) {
    const int unused = 64 - BitsOf(type);
    return NumberText(static_cast<int64_t>(bits << unused) >> unused);
  }
  if (type == DType::kBool && bits < 2) return bits == 1 ? "true" : "false";
  return NumberText(bits);
}

}  // namespace

std::string ElementText(const Tensor& tensor, int64_t index) {
  const DType type = tensor.dtype();
  const std::byte* data = tensor.data();
  switch (type) {
    case DType::kString:
      return Shortened(tensor.strings()[static_cast<size_t>(index)]);
    case DType::kComplex64:
      return ComplexText(metric::LoadElement<std::complex<float>>(data, index));
    case DType::kComplex128:
      return ComplexText(
          metric::LoadElement<std::complex<double>>(data, index));
    case DType::kFloat64:
      return NumberText(metric::LoadElement<double>(data, index));
    default:
      break;
  }
  const uint64_t bits = metric::ElementBits(type, data, index);
  if (IsFloatingPoint(type)) {
    return NumberText(static_cast<float>(metric::DecodeFloat(type, bits)));
  }
  return IntegerText(type, bits);
}

}  // namespace assay::measure

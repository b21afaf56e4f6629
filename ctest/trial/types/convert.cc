// SPDX-License-Identifier: Apache-2.0

#include "ctest/trial/types/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "framework/metric/element.h"

namespace assay::retype {
namespace {

/// An element as double; of a complex number the first part.
double NumberAt(const Tensor& tensor, int64_t i) {
  const DType type = tensor.dtype();
  if (type == DType::kString) {
    const std::string& text = tensor.strings()[static_cast<size_t>(i)];
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    return end == text.c_str() ? static_cast<double>(text.size()) : number;
  }
  if (type == DType::kComplex64) {
    return static_cast<double>(
        tensor.elements<std::pair<float, float>>()[static_cast<size_t>(i)]
            .first);
  }
  if (type == DType::kComplex128) {
    return tensor.elements<std::pair<double, double>>()[static_cast<size_t>(i)]
        .first;
  }
  const uint64_t bits = metric::ElementBits(type, tensor.data(), i);
  if (IsFloatingPoint(type)) return metric::DecodeFloat(type, bits);
  if (ClassOf(type) != DTypeClass::kSigned) return static_cast<double>(bits);
  const int unused = 64 - BitsOf(type);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

using Codes = std::map<double, uint64_t>;

/// The finite numbers of a float type of at most 16 bits.
const Codes& CodesOf(DType type) {
  static auto& known = *new std::map<DType, Codes>;
  Codes& codes = known[type];
  if (!codes.empty()) return codes;
  for (uint64_t bits = 0; bits < 1ULL << BitsOf(type); ++bits) {
    const double value = metric::DecodeFloat(type, bits);
    if (std::isfinite(value)) codes.emplace(value, bits);
  }
  return codes;
}

uint64_t NearestCode(DType type, double number) {
  const Codes& codes = CodesOf(type);
  if (std::isnan(number)) return codes.rbegin()->second;
  const auto above = codes.lower_bound(number);
  if (above == codes.end()) return codes.rbegin()->second;
  if (above == codes.begin()) return above->second;
  const auto below = std::prev(above);
  return number - below->first < above->first - number ? below->second
                                                       : above->second;
}

uint64_t IntegerCode(DType type, double number) {
  const int width = BitsOf(type);
  const bool is_signed = ClassOf(type) == DTypeClass::kSigned;
  const int digits = is_signed ? width - 1 : width;
  const double most = std::ldexp(1, digits) - (digits > 53 ? 2048 : 1);
  const double least = is_signed ? -std::ldexp(1, digits) : 0;
  const double whole =
      std::isnan(number) ? 0 : std::clamp(std::trunc(number), least, most);
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(whole))
                   : static_cast<uint64_t>(whole);
}

uint64_t CodeOf(DType type, double number) {
  switch (type) {
    case DType::kFloat32:
      return std::bit_cast<uint32_t>(static_cast<float>(number));
    case DType::kFloat64:
      return std::bit_cast<uint64_t>(number);
    case DType::kBool:
      return number != 0 ? 1 : 0;
    default:
      return IsFloatingPoint(type) ? NearestCode(type, number)
                                   : IntegerCode(type, number);
  }
}

void SetBits(Tensor& tensor, int64_t index, uint64_t bits) {
  auto* const bytes = reinterpret_cast<uint8_t*>(tensor.mutable_data());
  const int width = BitsOf(tensor.dtype());
  for (int k = 0; k < width; ++k) {
    const int64_t at = index * width + k;
    bytes[at / 8] |= static_cast<uint8_t>((bits >> k & 1) << (at % 8));
  }
}

}  // namespace

Tensor ConvertTensor(const Tensor& tensor, DType type) {
  if (tensor.dtype() == type) return tensor;
  Tensor converted = Tensor::Allocate(type, tensor.shape()).value();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const double number = NumberAt(tensor, i);
    const auto at = static_cast<size_t>(i);
    if (type == DType::kString) {
      converted.mutable_strings()[at] = StrCat(number);
    } else if (type == DType::kComplex64) {
      converted.mutable_elements<std::pair<float, float>>()[at] = {
          static_cast<float>(number), 0.0F};
    } else if (type == DType::kComplex128) {
      converted.mutable_elements<std::pair<double, double>>()[at] = {number, 0};
    } else {
      SetBits(converted, i, CodeOf(type, number));
    }
  }
  return converted;
}

}  // namespace assay::retype

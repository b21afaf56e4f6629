// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, as the page of Cast-26 has it: what Cast and CastMap read
// and write.
//
//   ASSAY_ASSIGN_OR_RETURN(const double x, ParseNumber<double>("-INF"));
//   PrintNumber(x);  // "-INF"

#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <string_view>

#include "framework/core/status.h"

namespace assay::reference {

inline bool SameLetters(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b;
  });
}

/// A number in decimal or scientific notation; INF, +INF, -INF and NaN in any
/// case. Invalid argument for anything else.
template <class T>
Result<T> ParseNumber(std::string_view text) {
  T value{};
  std::string_view digits = text;
  if (text.starts_with('+') && !text.starts_with("+-")) digits.remove_prefix(1);
  if constexpr (std::floating_point<T>) {
    const bool negative = digits.starts_with('-');
    const std::string_view word = digits.substr(negative ? 1 : 0);
    if (SameLetters(word, "nan")) return std::numeric_limits<T>::quiet_NaN();
    if (SameLetters(word, "inf")) {
      const T infinity = std::numeric_limits<T>::infinity();
      return negative ? -infinity : infinity;
    }
  }
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc() && stop == end) return value;
  return InvalidArgument("found '", text, "', wanted a number");
}

/// The shortest decimal number that is read back as the same.
template <class T>
std::string PrintNumber(T value) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  }
  std::array<char, 32> text;
  const auto printed =
      std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), printed.ptr};
}

}  // namespace assay::reference

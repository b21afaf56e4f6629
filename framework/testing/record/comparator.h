// SPDX-License-Identifier: Apache-2.0
//
// Comparator: how the outputs of a case are held against what is expected.
//
//   if (limit.comparator == Comparator::kExact) ...

#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace assay::record {

/// How the outputs of a case are compared.
enum class Comparator : uint8_t {
  kExact,         // bit patterns of equal value: integers, booleans
  kTolerance,     // |got - want| <= atol + rtol * |want|
  kText,          // strings
  kDistribution,  // random operators: statistics over repeated draws
};

std::string_view ToString(Comparator comparator);
std::optional<Comparator> ParseComparator(std::string_view text);

/// As a field of a row (field.h), and in messages.
bool ParseWord(std::string_view text, Comparator* comparator);
std::ostream& operator<<(std::ostream& out, Comparator comparator);

}  // namespace assay::record

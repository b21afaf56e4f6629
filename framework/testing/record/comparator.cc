// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/comparator.h"

#include <array>

namespace assay::record {
namespace {

constexpr auto kComparators = std::to_array<std::string_view>(
    {"exact", "tolerance", "text", "distribution"});

}  // namespace

std::string_view ToString(Comparator comparator) {
  return kComparators.at(static_cast<size_t>(comparator));
}

std::optional<Comparator> ParseComparator(std::string_view text) {
  for (size_t i = 0; i < kComparators.size(); ++i) {
    if (kComparators.at(i) == text) return static_cast<Comparator>(i);
  }
  return std::nullopt;
}

bool ParseWord(std::string_view text, Comparator* comparator) {
  const auto parsed = ParseComparator(text);
  *comparator = parsed.value_or(Comparator::kTolerance);
  return parsed.has_value();
}

std::ostream& operator<<(std::ostream& out, Comparator comparator) {
  return out << ToString(comparator);
}

}  // namespace assay::record

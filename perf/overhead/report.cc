// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/report.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/core/text.h"

namespace assay::overhead {
namespace {

using Row = times::OverheadRow;

/// So many digits behind the point; blank where nothing was measured.
std::string Text(const record::Number& number, int digits) {
  if (!number.has_value()) return "";
  std::array<char, 64> text = {};
  std::snprintf(text.data(), text.size(), "%.*f", digits, *number);
  return text.data();
}

std::string Microseconds(const record::Number& ns) {
  return ns.has_value() ? Text(*ns / 1000, 3) : "";
}

std::string With(const record::Number& middle, const record::Number& low,
                 const record::Number& high, int digits) {
  std::string text = Text(middle, digits);
  if (low.has_value() && high.has_value()) {
    text += StrCat(" [", Text(low, digits), ", ", Text(high, digits), "]");
  }
  return text;
}

std::optional<int64_t> Added(const Row& row) {
  if (!row.native_instructions || !row.framework_instructions) return {};
  return *row.framework_instructions - *row.native_instructions;
}

std::string InstructionsText(const Row& row) {
  const std::optional<int64_t> added = Added(row);
  if (!added.has_value()) return "";
  return StrCat(*row.native_instructions, *added < 0 ? " - " : " + ",
                std::abs(*added));
}

bool IsBoundCall(const Row& row) { return !row.test_id.starts_with(kEpoch); }

using Line = std::array<std::string, 8>;

std::string Padded(const Line& fields) {
  constexpr std::array<size_t, 8> kWidths = {36, 20, 12, 12, 26, 26, 18, 10};
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string& field = fields[i];
    const std::string blank(
        kWidths[i] > field.size() ? kWidths[i] - field.size() : 0, ' ');
    line += i < 2 ? field + blank : blank + field;
    line += ' ';
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// A limit: whether it is about a row, and whether it holds there.
struct Limit {
  std::string title;
  std::function<bool(const Row&)> is_about, holds;
  std::function<std::string(const Row&)> found;
};

std::vector<Limit> LimitsOf(const Limits& limits) {
  return {{StrCat("at most ", limits.most_ns, " ns over the native call"),
           [](const Row& row) { return row.delta_ns.has_value(); },
           [limits](const Row& row) { return *row.delta_ns <= limits.most_ns; },
           [](const Row& row) {
             return With(row.delta_ns, row.delta_ci95_lo_ns,
                         row.delta_ci95_hi_ns, 1) +
                    " ns";
           }},
          {StrCat("at most ", limits.most_instructions,
                  " instructions over the native call"),
           [](const Row& row) { return Added(row).has_value(); },
           [limits](const Row& row) {
             return *Added(row) <= limits.most_instructions;
           },
           [](const Row& row) { return StrCat(*Added(row), " instructions"); }},
          {StrCat("ratio below ", limits.ratio_below, " with 95 %, from ",
                  limits.ratio_from_ns / 1000, " us on"),
           [limits](const Row& row) {
             return row.ratio_ci95_hi.has_value() &&
                    row.native_median_ns.value_or(0) >= limits.ratio_from_ns;
           },
           [limits](const Row& row) {
             return *row.ratio_ci95_hi < limits.ratio_below;
           },
           [](const Row& row) {
             return With(row.paired_ratio, row.ratio_ci95_lo, row.ratio_ci95_hi,
                         4);
           }}};
}

}  // namespace

std::string TextOf(std::span<const Row> rows) {
  std::string text =
      Padded({"test_id", "backend", "native us", "framework us", "ratio [95 %]",
              "over, ns [95 %]", "instructions", "Eigen us"});
  for (const Row& row : rows) {
    text += Padded(
        {row.test_id, row.backend, Microseconds(row.native_median_ns),
         Microseconds(row.framework_median_ns),
         With(row.paired_ratio, row.ratio_ci95_lo, row.ratio_ci95_hi, 4),
         With(row.delta_ns, row.delta_ci95_lo_ns, row.delta_ci95_hi_ns, 1),
         InstructionsText(row), Microseconds(row.eigen_median_ns)});
  }
  return text;
}

int64_t CountBeyond(std::span<const Row> rows, int64_t most_instructions) {
  int64_t beyond = 0;
  for (const Row& row : rows) {
    if (IsBoundCall(row) && Added(row).value_or(0) > most_instructions) {
      ++beyond;
    }
  }
  return beyond;
}

std::string StandingOf(std::span<const Row> rows, const Limits& limits) {
  std::string text;
  for (const Limit& limit : LimitsOf(limits)) {
    int64_t about = 0;
    int64_t held = 0;
    std::string beyond;
    for (const Row& row : rows) {
      if (!IsBoundCall(row) || !limit.is_about(row)) continue;
      ++about;
      if (limit.holds(row)) {
        ++held;
      } else {
        beyond += StrCat("  beyond: ", row.test_id, " on ", row.backend, ", ",
                         limit.found(row), "\n");
      }
    }
    if (about == 0) continue;
    text += StrCat(limit.title, ": ", held, " of ", about, "\n", beyond);
  }
  return text;
}

}  // namespace assay::overhead

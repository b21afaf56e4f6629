// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/exact/referee.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::reference {
namespace {

// One entry: an estimate, and what rounding can have done to it.
struct Entry {
  double value;
  double rounding;
};

Result<Entry> CentralDifference(const std::function<Result<Sample>(double)>& f,
                                double step) {
  ASSAY_ASSIGN_OR_RETURN(const Sample ahead, f(step));
  ASSAY_ASSIGN_OR_RETURN(const Sample behind, f(-step));
  const double value = (ahead.value - behind.value) / (2 * step);
  return Entry{value, (ahead.bound + behind.bound) / (2 * step) +
                          2 * 0x1p-53 * std::abs(value)};
}

// Cancels the error of order h^2k of two entries, whose steps are as 1 to 2.
Entry Extrapolated(const Entry& fine, const Entry& coarse, double power) {
  const double value = fine.value + (fine.value - coarse.value) / (power - 1);
  return {value, (power * fine.rounding + coarse.rounding) / (power - 1) +
                     4 * 0x1p-53 * std::abs(value)};
}

// How far an entry may be off: as its two forerunners are from it, and by what
// rounding did to any of the three.
double BoundOf(const Entry& entry, const Entry& fine, const Entry& coarse) {
  const double spread = std::max(std::abs(entry.value - fine.value),
                                 std::abs(entry.value - coarse.value));
  return spread + entry.rounding + fine.rounding;
}

// By chance an entry may be near both its forerunners and not near the slope,
// as where errors of two orders cancel. Another that is apart from it by more
// than the bounds of both shows this.
void Doubt(const std::vector<Slope>& entries, Slope* best) {
  double bound = best->bound;
  for (const Slope& entry : entries) {
    const double apart = std::abs(entry.value - best->value);
    if (apart > entry.bound + best->bound) {
      bound = std::max(bound, apart + entry.bound);
    }
  }
  best->bound = bound;
}

}  // namespace

Result<Slope> SlopeAtZero(const std::function<Result<Sample>(double)>& f,
                          const RefereeOptions& options) {
  Slope best{0, std::numeric_limits<double>::infinity()};
  std::vector<Slope> entries;
  std::vector<Entry> previous;
  double step = options.step;
  for (int level = 0; level < options.levels; ++level, step /= 2) {
    std::vector<Entry> row;
    ASSAY_ASSIGN_OR_RETURN(row.emplace_back(), CentralDifference(f, step));
    double power = 4;
    for (const Entry& coarse : previous) {
      const Entry fine = row.back();
      row.push_back(Extrapolated(fine, coarse, power));
      power *= 4;
      entries.push_back({row.back().value, BoundOf(row.back(), fine, coarse)});
      if (entries.back().bound < best.bound) best = entries.back();
    }
    previous = std::move(row);
  }
  Doubt(entries, &best);
  return best;
}

}  // namespace assay::reference

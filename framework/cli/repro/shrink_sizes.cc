// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_sizes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>

namespace assay::repro {
namespace {

constexpr int kRounds = 3;
constexpr size_t kFew = 4;

class Descent {
 public:
  Descent(std::span<const suite::Extent> extents, const FailsWith& fails,
          int64_t budget)
      : extents_(extents), fails_(fails), budget_(budget) {
    for (const suite::Extent& each : extents) {
      places_.push_back(each.values.size() - 1);
    }
  }

  Result<SmallestSizes> Run() {
    ASSAY_ASSIGN_OR_RETURN(smallest_.steady, Ask(ValuesAt(places_)));
    for (int round = 0; smallest_.steady && round < kRounds; ++round) {
      const std::vector<size_t> before = places_;
      for (size_t which = 0; which < extents_.size(); ++which) {
        ASSAY_ASSIGN_OR_RETURN(places_[which], Least(which));
      }
      if (places_ == before) break;
    }
    smallest_.values = ValuesAt(places_);
    if (smallest_.steady) {
      ASSAY_ASSIGN_OR_RETURN(smallest_.steady, Ask(smallest_.values));
    }
    return smallest_;
  }

 private:
  std::vector<int64_t> ValuesAt(const std::vector<size_t>& places) const {
    std::vector<int64_t> values;
    for (size_t i = 0; i < places.size(); ++i) {
      values.push_back(extents_[i].values[places[i]]);
    }
    return values;
  }

  Result<bool> Ask(const std::vector<int64_t>& values) {
    ++smallest_.asked;
    return fails_(values);
  }

  /// Asks once about the same values.
  Result<bool> Fails(const std::vector<int64_t>& values) {
    const auto known = known_.find(values);
    if (known != known_.end()) return known->second;
    // One question is left for the end.
    if (smallest_.asked + 1 >= budget_) {
      smallest_.spent = true;
      return false;
    }
    ASSAY_ASSIGN_OR_RETURN(const bool fails, Ask(values));
    known_.emplace(values, fails);
    return fails;
  }

  /// The place of the least value of an extent, the others as they are.
  Result<size_t> Least(size_t which) {
    const auto fails_at = [&](size_t place) {
      std::vector<size_t> places = places_;
      places[which] = place;
      return Fails(ValuesAt(places));
    };
    size_t fails = places_[which];
    for (size_t place = 0; place < std::min(kFew, fails); ++place) {
      ASSAY_ASSIGN_OR_RETURN(const bool is_enough, fails_at(place));
      if (is_enough) return place;
    }
    if (fails <= kFew) return fails;
    size_t passes = kFew - 1;
    while (fails - passes > 1) {
      const size_t middle = passes + (fails - passes) / 2;
      ASSAY_ASSIGN_OR_RETURN(const bool is_enough, fails_at(middle));
      (is_enough ? fails : passes) = middle;
    }
    return fails;
  }

  const std::span<const suite::Extent> extents_;
  const FailsWith& fails_;
  const int64_t budget_;
  std::vector<size_t> places_;  // of the least values so far
  std::map<std::vector<int64_t>, bool> known_;
  SmallestSizes smallest_;
};

}  // namespace

Result<SmallestSizes> ShrinkSizes(std::span<const suite::Extent> extents,
                                  const FailsWith& fails, int64_t budget) {
  return Descent(extents, fails, budget).Run();
}

int64_t MostAsked(std::span<const suite::Extent> extents) {
  int64_t most = 2;
  for (const suite::Extent& each : extents) {
    most += kRounds * (static_cast<int64_t>(kFew) +
                       std::bit_width(each.values.size() - 1));
  }
  return most;
}

}  // namespace assay::repro

// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/charged_product.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "backends/reference/dense/charged_loops.h"

extern "C" {
const assay::reference::ChargedLoops* assay_reference_charged_sse2();
const assay::reference::ChargedLoops* assay_reference_charged_avx2();
const assay::reference::ChargedLoops* assay_reference_charged_avx512();
}

namespace assay::reference {
namespace {

// The factors that a tile reads stay in the caches: for a term those of some
// columns, packed once for all rows.
constexpr int64_t kTermsAtOnce = 256;
constexpr int64_t kColumnsAtOnce = 128;

// In a loop kUnknownInLoop stands for unknown units: infinite ones times 0
// would be NaN. Units that it contributes to are at least kLeastUnknown, as
// long as no number and no units beside it are less than kLeastBesideUnknown.
constexpr double kUnknownInLoop = 0x1p1000;
constexpr double kLeastUnknown = 0x1p500;
constexpr double kLeastBesideUnknown = 0x1p-400;

// The range of the numbers and of their units, but for 0.
struct Extent {
  static constexpr double kNoneYet = std::numeric_limits<double>::infinity();

  // Without a branch: half of the activations of a network are 0.
  void Add(double value, double of_units) {
    const double size = std::abs(value);
    least_units = std::min(least_units, of_units == 0 ? kNoneYet : of_units);
    least = std::min(least, size == 0 ? kNoneYet : size);
    greatest = std::max(greatest, size);
    has_units |= of_units != 0;
    has_exact |= (of_units == 0) & (size != 0);
    has_unknown |= of_units == kUnknownInLoop;
  }

  double least = kNoneYet;
  double greatest = 0;
  double least_units = kNoneYet;
  bool has_units = false;
  bool has_exact = false;
  bool has_unknown = false;
};

// 0 added to -0 is not what it was.
bool IsNegativeZero(double x) { return x == 0 && std::signbit(x); }

// True when all halves of factors, their products and what those round off are
// normal numbers, and IsExact asks for no more.
bool SplitsExactly(const Extent& a, const Extent& b) {
  return a.least * b.least > 0x1p-960 &&
         std::max(1.0, a.greatest) * std::max(1.0, b.greatest) < 0x1p1000;
}

// True when an unknown number may come to little.
bool IsMinute(const Extent& a, const Extent& b) {
  return std::min({a.least, b.least, a.least_units, b.least_units}) <
         kLeastBesideUnknown;
}

// True when what errors do to second order is the same after a swap: where the
// least number in Error() is none beside the units.
bool IsSymmetric(const Extent& a, const Extent& b) {
  return std::min(a.least_units, b.least_units) >= 0x1p-900;
}

// A part of the product: these terms, of these rows and columns.
struct Part {
  int64_t row = 0, rows = 0;
  int64_t term = 0, terms = 0;
  int64_t column = 0, columns = 0;
};

// sums += left right, where left is the first factor of AddProduct, or swapped.
template <Charge kCharge>
class Multiplier {
 public:
  using C = Charged<kCharge>;

  Multiplier(const ChargedLoops& loops, const ChargedView& left,
             const ChargedView& right, const ChargedSums& sums, bool is_swapped,
             ZeroFactors zeros)
      : loops_(loops),
        left_(left),
        right_(right),
        sums_(sums),
        is_swapped_(is_swapped),
        skips_zeros_(zeros == ZeroFactors::kSkip),
        terms_(std::min(kTermsAtOnce, left.columns)),
        values_(static_cast<size_t>(loops.rows * loops.columns)),
        units_(values_.size()),
        lefts_(static_cast<size_t>(terms_ * loops.rows)) {
    const int64_t columns = std::min(kColumnsAtOnce, sums.columns);
    const int64_t panels = (columns + loops.columns - 1) / loops.columns;
    extents_.resize(static_cast<size_t>(panels));
    rights_.resize(static_cast<size_t>(terms_ * 2 * panels * loops.columns));
  }

  void Run() {
    Part part;
    for (part.term = 0; part.term < left_.columns; part.term += part.terms) {
      part.terms = std::min(terms_, left_.columns - part.term);
      for (int64_t at = 0; at < sums_.columns; at += kColumnsAtOnce) {
        RunColumns(part, at, std::min(at + kColumnsAtOnce, sums_.columns));
      }
    }
  }

 private:
  void RunColumns(Part part, int64_t first, int64_t end) {
    ForEachPanel(part, first, end, [this](const Part& at, size_t panel) {
      extents_[panel] = PackRight(at, RightOf(panel));
    });
    for (part.row = 0; part.row < sums_.rows; part.row += loops_.rows) {
      part.rows = std::min(loops_.rows, sums_.rows - part.row);
      const Extent of_left = PackLeft(part);
      ForEachPanel(part, first, end, [&](const Part& at, size_t panel) {
        if (!RunTile(at, of_left, extents_[panel], RightOf(panel))) {
          RunOneByOne(at);
        }
      });
    }
  }

  template <class Body>
  void ForEachPanel(Part part, int64_t first, int64_t end,
                    const Body& body) const {
    size_t panel = 0;
    for (part.column = first; part.column < end;
         part.column += loops_.columns) {
      part.columns = std::min(loops_.columns, end - part.column);
      body(part, panel++);
    }
  }

  double* RightOf(size_t panel) {
    return rights_.data() +
           static_cast<int64_t>(panel) * terms_ * 2 * loops_.columns;
  }

  static C InLoop(const C& x) {
    return {x.value, x.units == C::kUnknown ? kUnknownInLoop : x.units};
  }

  Extent PackRight(const Part& part, double* to) const {
    Extent extent;
    for (int64_t t = 0; t < part.terms; ++t) {
      for (int64_t j = 0; j < loops_.columns; ++j) {
        C x;
        if (j < part.columns) {
          x = InLoop(right_.At<kCharge>(part.term + t, part.column + j));
        }
        to[j] = x.value;
        to[loops_.columns + j] = x.units;
        extent.Add(x.value, x.units);
      }
      to += 2 * loops_.columns;
    }
    return extent;
  }

  Extent PackLeft(const Part& part) {
    Extent extent;
    ChargedFactor* to = lefts_.data();
    for (int64_t t = 0; t < part.terms; ++t) {
      for (int64_t i = 0; i < loops_.rows; ++i) {
        C x;
        if (i < part.rows) {
          x = InLoop(left_.At<kCharge>(part.row + i, part.term + t));
        }
        const bool is_one = x.units == 0 && std::abs(x.value) == 1;
        *to++ = {x.value, x.units, is_one ? 0 : 1 / C::kUnit, x.Error()};
        extent.Add(x.value, x.units);
      }
    }
    return extent;
  }

  // False where its loop does not know the charges: of products below the
  // normal numbers, of numbers that are not finite, and where no units are
  // known.
  bool RunTile(const Part& part, const Extent& of_left, const Extent& of_right,
               const double* right) {
    constexpr bool kIsBound = kCharge == Charge::kBound;
    const ChargedCase at = {
        .charge = kCharge,
        .left_has_units = of_left.has_units,
        .right_has_units = of_right.has_units,
        .may_be_exact = kIsBound && of_left.has_exact && of_right.has_exact};
    const bool has_unknown = of_left.has_unknown || of_right.has_unknown;
    if (of_left.least * of_right.least < 0x1p-1022 ||
        (has_unknown && IsMinute(of_left, of_right)) ||
        (at.may_be_exact && !SplitsExactly(of_left, of_right)) ||
        (kIsBound && is_swapped_ && !IsSymmetric(of_left, of_right))) {
      return false;
    }
    Load(part);
    if (skips_zeros_ && std::ranges::any_of(values_, IsNegativeZero)) {
      return false;
    }
    loops_.At(at)(
        {part.terms, lefts_.data(), right, values_.data(), units_.data()});
    const bool is_known =
        std::ranges::all_of(values_,
                            [](double x) { return std::isfinite(x); }) &&
        std::ranges::none_of(units_, [](double x) { return std::isnan(x); });
    if (!is_known) return false;
    for (double& of_sum : units_) {
      if (has_unknown && of_sum >= kLeastUnknown) of_sum = C::kUnknown;
    }
    Store(part);
    return true;
  }

  void Load(const Part& part) {
    std::ranges::fill(values_, 0);
    std::ranges::fill(units_, 0);
    ForEachSum(part, [this](size_t at, int64_t from) {
      values_[at] = sums_.values[from];
      units_[at] = sums_.units[from];
    });
  }
  void Store(const Part& part) {
    ForEachSum(part, [this](size_t at, int64_t to) {
      sums_.values[to] = values_[at];
      sums_.units[to] = units_[at];
    });
  }
  template <class Body>
  void ForEachSum(const Part& part, const Body& body) const {
    for (int64_t i = 0; i < part.rows; ++i) {
      for (int64_t j = 0; j < part.columns; ++j) {
        body(static_cast<size_t>(i * loops_.columns + j),
             sums_.Offset(part.row + i, part.column + j));
      }
    }
  }

  void RunOneByOne(const Part& part) const {
    ForEachSum(part, [&](size_t at, int64_t to) {
      const auto columns = static_cast<size_t>(loops_.columns);
      const int64_t row = part.row + static_cast<int64_t>(at / columns);
      const int64_t column = part.column + static_cast<int64_t>(at % columns);
      C sum(sums_.values[to], sums_.units[to]);
      for (int64_t t = part.term; t < part.term + part.terms; ++t) {
        C first = left_.At<kCharge>(row, t);
        C second = right_.At<kCharge>(t, column);
        if (is_swapped_) std::swap(first, second);
        if (skips_zeros_ && IsZero(second)) continue;
        sum = AddProduct(sum, first, second);
      }
      sums_.values[to] = sum.value;
      sums_.units[to] = sum.units;
    });
  }

  const ChargedLoops& loops_;
  const ChargedView left_;
  const ChargedView right_;
  const ChargedSums sums_;
  const bool is_swapped_;
  const bool skips_zeros_;
  const int64_t terms_;                 // at once, at most
  std::vector<double> values_, units_;  // of a tile
  std::vector<ChargedFactor> lefts_;
  std::vector<double> rights_;  // panel by panel
  std::vector<Extent> extents_;
};

}  // namespace

const ChargedLoops& ChargedLoopsFor(Isa isa) {
  static constexpr IsaEntries<ChargedLoops> kEntries = {
      .sse2 = assay_reference_charged_sse2,
      .avx2 = assay_reference_charged_avx2,
      .avx512 = assay_reference_charged_avx512};
  return kEntries.LoopsFor(isa);
}

ChargedMatrix::ChargedMatrix(int64_t of_rows, int64_t of_columns)
    : rows(of_rows),
      columns(of_columns),
      values(static_cast<size_t>(of_rows * of_columns)) {}

ChargedView ChargedMatrix::View() const {
  return {values.data(),
          units.empty() ? nullptr : units.data(),
          rows,
          columns,
          {columns, 1}};
}

ChargedSums ChargedMatrix::Sums() {
  units.resize(values.size());
  return {values.data(), units.data(), rows, columns, {columns, 1}};
}

template <Charge kCharge>
void AddProducts(const ChargedView& a, const ChargedView& b,
                 const ChargedSums& y, ZeroFactors zeros, Isa isa) {
  const ChargedLoops& loops = ChargedLoopsFor(isa);
  // Vectors run along the columns, of which there should be enough.
  const bool swaps = y.columns < loops.columns && y.columns < y.rows;
  Multiplier<kCharge>(loops, swaps ? b.Transposed() : a,
                      swaps ? a.Transposed() : b, swaps ? y.Transposed() : y,
                      swaps, zeros)
      .Run();
}
template void AddProducts<Charge::kCondition>(const ChargedView&,
                                              const ChargedView&,
                                              const ChargedSums&, ZeroFactors,
                                              Isa);
template void AddProducts<Charge::kHard>(const ChargedView&, const ChargedView&,
                                         const ChargedSums&, ZeroFactors, Isa);
template void AddProducts<Charge::kBound>(const ChargedView&,
                                          const ChargedView&,
                                          const ChargedSums&, ZeroFactors, Isa);

}  // namespace assay::reference

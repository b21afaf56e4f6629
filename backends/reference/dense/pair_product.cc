// SPDX-License-Identifier: Apache-2.0
//
// The running sum is s + c: each product goes into s, and all that is rounded
// off into c, as in the compensated Dot2 of Ogita, Rump and Oishi (2005),
// Accurate Sum and Dot Product. Let u be 2^-53 and x + x', y + y' the factors,
// of which |x'| <= u |x| and |y'| <= u |y|. One term is
//
//   p = fl(x y)                    e = x y - p exactly; |e| <= u |p|
//   q = fl(fl(x y') + fl(x' y))    |q| <= 2 u |p|
//   r = fl(e + q)
//   s_k = fl(s + p)                t = s + p - s_k exactly
//   c_k = fl(c + w), w = fl(t + r)
//
// It loses, to first order in u: u^2 |p| to each product in q, 2 u^2 |p| to
// their sum, u^2 |p| to x' y', which is left out, and 3 u^2 |p| to r: 8 u^2
// |p|. Where only y has a low part it loses u^2 |p| to q and 2 u^2 |p| to r: 3
// u^2 |p|; where none has, nothing. Further it loses u |w| and u |c_k|. Since
// c_k is c + w but for u |c_k|, |w| <= |c| + (1 + u) |c_k|; so that each |c|
// that a sum ever has stands for at most (3 + u) u |c|. The sum becomes a pair
// again now and then, without error, so that c stays about u s; that c counts
// as well.
//
// In units of 4 u^2 = 2^-104 that is 2 |p| (or 3/4 |p|) and 3/4 |c| / u. The
// magnitude has 2.5 |p| (or |p|) and |c| / u: a quarter more, which is ample
// for the higher orders of u and for the magnitude's own roundings, of fewer
// than 2^48 terms. Below the normal numbers x y' loses 2^-1075; where p is
// 2^-900 or more, that is 2^-69 u^2 |p|. A lesser p loses e, which is not taken
// for it, at most 2^-953; 2^-848 units are twice that.

#include "backends/reference/dense/pair_product.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "backends/reference/dense/pair_loops.h"
#include "backends/reference/loop/product.h"

extern "C" {
const assay::reference::PairLoops* assay_reference_pair_sse2();
const assay::reference::PairLoops* assay_reference_pair_avx2();
const assay::reference::PairLoops* assay_reference_pair_avx512();
}

namespace assay::reference {
namespace {

// The numbers that a tile reads stay in the nearest cache, and those packed at
// once in the next.
constexpr int64_t kPairTermsAtOnce = 128;
constexpr int64_t kPairColumnsAtOnce = 256;
static_assert(kPairTermsAtOnce % kPairStretch == 0);
// Rows that are fetched before they are packed: they lie too far apart for the
// processor to do so.
constexpr int64_t kRowsAhead = 4;
// Doubles between two panels, which otherwise meet in the same sets of a cache.
constexpr int64_t kBetweenPanels = 8;

constexpr Answer kYes = -1;

// Memory of somebody else; a null `low` stands for zeros.
struct PairView {
  explicit PairView(const PairMatrix& of)
      : high(of.high.data()),
        low(of.low.empty() ? nullptr : of.low.data()),
        rows(of.rows),
        columns(of.columns),
        strides{of.columns, 1} {}

  PairView Transposed() const {
    PairView view = *this;
    std::swap(view.rows, view.columns);
    view.strides = strides.Transposed();
    return view;
  }
  int64_t Offset(int64_t row, int64_t column) const {
    return row * strides.row + column * strides.column;
  }

  const double* high;
  const double* low;
  int64_t rows;
  int64_t columns;
  MatrixStrides strides;
};

struct TrackedSums {
  double* high;
  double* low;
  double* magnitude;
  int64_t rows;
  int64_t columns;
  MatrixStrides strides;

  TrackedSums Transposed() const {
    return {high, low, magnitude, columns, rows, strides.Transposed()};
  }
};

// A part of the product: these terms of these columns.
struct PairPart {
  int64_t term = 0, terms = 0;
  int64_t column = 0, columns = 0;
};

// sums += left right, by tiles of one row.
class PairMultiplier {
 public:
  PairMultiplier(const PairLoops& loops, const PairView& left,
                 const PairView& right, const TrackedSums& sums)
      : loops_(loops),
        left_(left),
        right_(right),
        sums_(sums),
        terms_(std::min(kPairTermsAtOnce, left.columns)),
        parts_(right.low == nullptr ? 1 : 2),
        panel_(terms_ * parts_ * loops.columns + kBetweenPanels),
        row_is_known_(Sized(left.rows), kYes),
        row_is_small_(Sized(left.rows)),
        column_is_known_(RoundedUp(right.columns), kYes),
        column_is_small_(
            RoundedUp(std::min(kPairColumnsAtOnce, right.columns))),
        high_row_(column_is_small_.size()),
        low_row_(high_row_),
        rights_(column_is_small_.size() / Sized(loops.columns) * Sized(panel_)),
        high_(Sized(loops.columns)),
        low_(high_),
        magnitude_(high_) {}

  bool Run() {
    LookAtRows();
    PairPart part;
    for (part.term = 0; part.term < left_.columns; part.term += part.terms) {
      part.terms = std::min(terms_, left_.columns - part.term);
      for (part.column = 0; part.column < right_.columns;
           part.column += part.columns) {
        part.columns =
            std::min(kPairColumnsAtOnce, right_.columns - part.column);
        RunColumns(part);
      }
    }
    return MarkUnknown();
  }

 private:
  static size_t Sized(int64_t count) { return static_cast<size_t>(count); }
  // To whole panels.
  size_t RoundedUp(int64_t columns) const {
    const int64_t panels = (columns + loops_.columns - 1) / loops_.columns;
    return Sized(panels * loops_.columns);
  }

  void LookAtRows() {
    for (int64_t i = 0; i < left_.rows; ++i) {
      Answer is_known = kYes, is_small = 0;
      for (int64_t t = 0; t < left_.columns; ++t) {
        const int64_t at = left_.Offset(i, t);
        const double low = left_.low == nullptr ? 0 : left_.low[at];
        const double size = std::abs(left_.high[at]);
        is_known &= IsKnownPair(size, std::abs(low)) ? kYes : 0;
        is_small |= IsSmallFactor(size) ? kYes : 0;
      }
      row_is_known_[Sized(i)] = is_known;
      row_is_small_[Sized(i)] = is_small;
    }
  }

  void RunColumns(const PairPart& part) {
    PackRight(part);
    PairPart panel = part;
    const double* right = rights_.data();
    for (int64_t at = 0; at < part.columns; at += loops_.columns) {
      panel.column = part.column + at;
      panel.columns = std::min(loops_.columns, part.columns - at);
      const auto first = column_is_small_.begin() + at;
      const bool is_small =
          std::any_of(first, first + panel.columns,
                      [](Answer is_small) { return is_small != 0; });
      for (int64_t i = 0; i < left_.rows; ++i) {
        RunTile(panel, i, right,
                {.left_has_low = left_.low != nullptr,
                 .right_has_low = right_.low != nullptr,
                 .may_be_small = is_small || row_is_small_[Sized(i)] != 0});
      }
      right += panel_;
    }
  }

  // Row by row, as it lies in memory, into all panels.
  void PackRight(const PairPart& part) {
    std::ranges::fill(column_is_small_, 0);
    const auto columns = static_cast<int64_t>(RoundedUp(part.columns));
    const bool is_in_place =
        right_.strides.column == 1 && columns == part.columns;
    PairRow row = {.columns = columns,
                   .panels = rights_.data(),
                   .panel_step = panel_,
                   .is_known = column_is_known_.data() + part.column,
                   .is_small = column_is_small_.data()};
    for (int64_t t = part.term; t < part.term + part.terms; ++t) {
      const int64_t from = right_.Offset(t, part.column);
      // Beyond the edge of the last panel anything may stand.
      const auto take = [&](const double* numbers, std::vector<double>& room) {
        if (numbers == nullptr || is_in_place) {
          return numbers == nullptr ? nullptr : numbers + from;
        }
        for (int64_t j = 0; j < part.columns; ++j) {
          room[Sized(j)] = numbers[from + j * right_.strides.column];
        }
        return static_cast<const double*>(room.data());
      };
      row.high = take(right_.high, high_row_);
      row.low = take(right_.low, low_row_);
      if (is_in_place) {
        const int64_t last = part.term + part.terms - 1;
        row.ahead = std::min(kRowsAhead, last - t) * right_.strides.row;
      }
      loops_.pack(row);
      row.panels += parts_ * loops_.columns;
    }
  }

  void RunTile(const PairPart& part, int64_t row, const double* right,
               const PairCase& at) {
    const int64_t first =
        row * sums_.strides.row + part.column * sums_.strides.column;
    for (int64_t j = 0; j < part.columns; ++j) {
      const int64_t from = first + j * sums_.strides.column;
      high_[Sized(j)] = sums_.high[from];
      low_[Sized(j)] = sums_.low[from];
      magnitude_[Sized(j)] = sums_.magnitude[from];
    }
    const int64_t left = left_.Offset(row, part.term);
    loops_.At(at)({part.terms, left_.high + left,
                   left_.low == nullptr ? nullptr : left_.low + left,
                   left_.strides.column, right, high_.data(), low_.data(),
                   magnitude_.data()});
    for (int64_t j = 0; j < part.columns; ++j) {
      const int64_t to = first + j * sums_.strides.column;
      sums_.high[to] = high_[Sized(j)];
      sums_.low[to] = low_[Sized(j)];
      sums_.magnitude[to] = magnitude_[Sized(j)];
    }
  }

  bool MarkUnknown() {
    bool are_known = true;
    for (int64_t i = 0; i < sums_.rows; ++i) {
      for (int64_t j = 0; j < sums_.columns; ++j) {
        const int64_t at = i * sums_.strides.row + j * sums_.strides.column;
        if (row_is_known_[Sized(i)] != 0 && column_is_known_[Sized(j)] != 0 &&
            std::isfinite(sums_.magnitude[at])) {
          continue;
        }
        are_known = false;
        sums_.high[at] = std::numeric_limits<double>::quiet_NaN();
        sums_.low[at] = sums_.high[at];
        sums_.magnitude[at] = std::numeric_limits<double>::infinity();
      }
    }
    return are_known;
  }

  const PairLoops& loops_;
  const PairView left_;
  const PairView right_;
  const TrackedSums sums_;
  const int64_t terms_;  // at once, at most
  const int64_t parts_;  // of a number on the right
  const int64_t panel_;  // doubles
  std::vector<Answer> row_is_known_, row_is_small_;
  std::vector<Answer> column_is_known_, column_is_small_;  // small: of a part
  std::vector<double> high_row_, low_row_;                 // of the right
  std::vector<double> rights_;                             // panel by panel
  std::vector<double> high_, low_, magnitude_;             // of a tile
};

}  // namespace

const PairLoops& PairLoopsFor(Isa isa) {
  static constexpr IsaEntries<PairLoops> kEntries = {
      .sse2 = assay_reference_pair_sse2,
      .avx2 = assay_reference_pair_avx2,
      .avx512 = assay_reference_pair_avx512};
  return kEntries.LoopsFor(isa);
}

bool AddProducts(const PairMatrix& a, const PairMatrix& b, PairMatrix& y,
                 double* magnitude, Isa isa) {
  y.low.resize(y.high.size());
  for (size_t i = 0; i < y.high.size(); ++i) {
    if (!IsKnownPair(std::abs(y.high[i]), std::abs(y.low[i]))) {
      magnitude[i] = std::numeric_limits<double>::infinity();
    }
  }
  const TrackedSums sums = {y.high.data(), y.low.data(), magnitude,
                            y.rows,        y.columns,    {y.columns, 1}};
  const PairLoops& loops = PairLoopsFor(isa);
  // Vectors run along the columns, of which there should be enough.
  const bool swaps = y.columns < loops.columns && y.columns < y.rows;
  return swaps ? PairMultiplier(loops, PairView(b).Transposed(),
                                PairView(a).Transposed(), sums.Transposed())
                     .Run()
               : PairMultiplier(loops, PairView(a), PairView(b), sums).Run();
}

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/motion.h"

#include <algorithm>
#include <utility>

namespace assay::onednn {
namespace {

/// Drops axes of one element and joins neighbours that are one in both walks.
Motion Joined(const Motion& motion) {
  Motion joined;
  joined.from.offset = motion.from.offset;
  joined.to.offset = motion.to.offset;
  if (Product(motion.dims, 0, motion.dims.size()) == 0) {
    joined.dims = {0};
    joined.from.strides = joined.to.strides = {1};
    return joined;
  }
  for (size_t i = 0; i < motion.dims.size(); ++i) {
    const int64_t extent = motion.dims[i];
    const int64_t from = motion.from.strides[i];
    const int64_t to = motion.to.strides[i];
    if (extent == 1) continue;
    if (!joined.dims.empty() && joined.from.strides.back() == from * extent &&
        joined.to.strides.back() == to * extent) {
      joined.dims.back() *= extent;
      joined.from.strides.back() = from;
      joined.to.strides.back() = to;
    } else {
      joined.dims.push_back(extent);
      joined.from.strides.push_back(from);
      joined.to.strides.push_back(to);
    }
  }
  if (joined.dims.empty()) {
    joined.dims = joined.from.strides = joined.to.strides = {1};
  }
  return joined;
}

/// The same copy, counted in lanes.
Motion InLanes(Motion motion, int64_t lanes) {
  if (lanes == 1) return motion;
  for (Walk* walk : {&motion.from, &motion.to}) {
    for (int64_t& stride : walk->strides) stride *= lanes;
    walk->strides.push_back(1);
    walk->offset *= lanes;
  }
  motion.dims.push_back(lanes);
  return motion;
}

/// oneDNN wants `count` strides of an axis within a stride of the axis before
/// it: a last entry for which there is no whole step left is apart.
std::vector<Piece> Fitting(const std::vector<Piece>& pieces, int64_t extent) {
  std::vector<Piece> fitting;
  for (Piece piece : pieces) {
    const bool fits = piece.count < 2 || piece.count * piece.step <= extent;
    if (!fits) --piece.count;
    fitting.push_back(piece);
    if (fits) continue;
    fitting.push_back({.to = piece.to + piece.count,
                       .from = piece.from + piece.count * piece.step,
                       .count = 1});
  }
  return fitting;
}

int64_t WidthOf(memory::data_type type) {
  return static_cast<int64_t>(memory::data_type_size(type));
}

}  // namespace

memory::desc Carried::As(memory::dims dims) const {
  dims.back() *= lanes;
  return view.As(dims);
}

Result<Carried> Carry(const ChainBuilder& chain, DType dtype,
                      const Shape& shape) {
  const int64_t bits = BitsOf(dtype);
  if (bits == 0 || bits % 8 != 0) {
    return Unsupported(Reason::kDType, "oneDNN's reorder copies whole bytes, ",
                       dtype, " is not made of such");
  }
  const int64_t width = bits / 8;
  using Type = memory::data_type;
  Type type = Type::u8;
  DType as = DType::kUint8;
  if (width % 4 == 0) {
    const bool real = dtype == DType::kFloat32;
    type = real ? Type::f32 : Type::s32;
    as = real ? DType::kFloat32 : DType::kInt32;
  }
  ASSAY_ASSIGN_OR_RETURN(TensorView view, chain.View(as, shape));
  view.dtype = dtype;
  return Carried{std::move(view), width / WidthOf(type)};
}

Result<Carried> Carry(ChainBuilder& chain, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, chain.ShapeOf(input));
  return Carry(chain, chain.dtype(input), shape);
}

void AddMotion(ChainBuilder& chain, Input input, const Carried& x,
               Output output, const Carried& y, const Motion& motion) {
  const Motion joined = Joined(InLanes(motion, x.lanes));
  const int64_t width = WidthOf(x.view.type);
  chain.Blame(Reason::kShape);
  chain.Copy(
      chain.In(input, {joined.dims, x.view.type, joined.from.strides},
               joined.from.offset * width),
      chain.Out(output, y.view, {joined.dims, y.view.type, joined.to.strides},
                joined.to.offset * width));
}

std::vector<Piece> PiecesOf(std::span<const int64_t> places) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t place = places[i];
    if (place < 0) continue;
    const auto to = static_cast<int64_t>(i);
    Piece* const last = pieces.empty() ? nullptr : &pieces.back();
    const bool follows = last != nullptr && last->to + last->count == to;
    const int64_t step =
        follows ? place - (last->from + (last->count - 1) * last->step) : -1;
    if (step >= 0 && (last->count == 1 || step == last->step)) {
      last->step = step;
      ++last->count;
    } else {
      pieces.push_back({.to = to, .from = place, .step = 1, .count = 1});
    }
  }
  return pieces;
}

Status AddPieces(ChainBuilder& chain, Input input, const Carried& x,
                 Output output, const Carried& y,
                 std::vector<std::vector<Piece>> axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = Fitting(axes[i], x.view.shape.dims()[i]);
  }
  constexpr int64_t kMost = int64_t{1} << 16;
  int64_t count = 1;
  for (const auto& pieces : axes) {
    if (__builtin_mul_overflow(count, std::ssize(pieces), &count) ||
        count > kMost) {
      return ResourceExhausted("the copy falls into more than ", kMost,
                               " reorders");
    }
  }
  const memory::dims from = RowMajorStrides(x.view.shape.dims());
  const memory::dims to = RowMajorStrides(y.view.shape.dims());
  for (int64_t number = 0; number < count; ++number) {
    Motion motion;
    int64_t rest = number;
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto here = std::lldiv(rest, std::ssize(axes[i]));
      const Piece& piece = axes[i][static_cast<size_t>(here.rem)];
      rest = here.quot;
      motion.dims.push_back(piece.count);
      motion.from.offset += piece.from * from[i];
      motion.from.strides.push_back(piece.step * from[i]);
      motion.to.offset += piece.to * to[i];
      motion.to.strides.push_back(to[i]);
    }
    AddMotion(chain, input, x, output, y, motion);
  }
  return OkStatus();
}

}  // namespace assay::onednn

// SPDX-License-Identifier: Apache-2.0
//
// MaxRoiPool-22: the greatest value in each cell of a grid laid over a region.
//
// The page says what goes in and comes out, and no formula; ONNX's reference
// implementation does not have the operator. Source of the formula: the layer
// of R. Girshick, "Fast R-CNN" (2015), which the page's terms come from: the
// corners are scaled and rounded, halves away from zero; both belong to the
// region, which is at least one element; cell p of P is [floor(p e / P),
// ceil((p + 1) e / P)) of the extent e, cut to the image; an empty one is 0.

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

/// Elements [begin, end) of an axis.
struct Cell {
  int64_t begin = 0;
  int64_t end = 0;
};

/// One axis of a region.
struct Reach {
  int64_t start = 0;
  int64_t extent = 1;

  // The span of cell `index` of `count`, cut to an axis of `limit` elements.
  Cell At(int64_t index, int64_t count, int64_t limit) const {
    const int64_t begin = start + index * extent / count;
    const int64_t end = start + ((index + 1) * extent + count - 1) / count;
    return {std::clamp<int64_t>(begin, 0, limit),
            std::clamp<int64_t>(end, 0, limit)};
  }
};

// Beyond this a corner is of no image, and products of extents stay in range.
constexpr double kFarthest = 1 << 30;

/// The nearest whole number, halves away from zero, which shows in what is
/// read.
template <class T>
double Corner(T x) {
  const auto nearest = std::round(static_cast<double>(Value(x)));
  NoteRounded(x, nearest);
  return nearest;
}

/// Nothing when a corner is NaN or infinite.
template <class T>
std::optional<Reach> ReachOf(T first, T last, double scale) {
  const double from = Corner(first * T(scale));
  const double to = Corner(last * T(scale));
  if (!std::isfinite(from) || !std::isfinite(to)) return std::nullopt;
  const auto start =
      static_cast<int64_t>(std::clamp(from, -kFarthest, kFarthest));
  const auto end = static_cast<int64_t>(std::clamp(to, -kFarthest, kFarthest));
  return Reach{start, std::max<int64_t>(end - start + 1, 1)};
}

template <class T>
T Greatest(const T* image, int64_t width, const Cell& rows,
           const Cell& columns) {
  Choose<T> greatest;
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      greatest.Offer(image[i * width + j], i * width + j);
    }
  }
  return greatest.index() < 0 ? T(0) : greatest.best();
}

Status CheckShapes(const op::MaxRoiPool& op, const Shape& x,
                   const Shape& rois) {
  if (x.rank() != 4 || rois.rank() != 2 || rois[1] != 5) {
    return InvalidArgument("input X of shape ", x.ToString(), " and rois ",
                           rois.ToString(), ", wanted [N, C, H, W] and [R, 5]");
  }
  const std::vector<int64_t>& pooled = op.pooled_shape;
  if (pooled.size() != 2 || std::ranges::any_of(pooled, [](int64_t extent) {
        return extent < 1 || extent > static_cast<int64_t>(kFarthest);
      })) {
    return InvalidArgument("pooled_shape is ", Shape(pooled).ToString(),
                           ", wanted a height and a width");
  }
  return OkStatus();
}

template <class T>
Status MaxRoiPool(const op::MaxRoiPool& op, KernelContext& run) {
  const Shape& shape = run.input(op.x).shape();
  const Shape& rois_shape = run.input(op.rois).shape();
  ASSAY_RETURN_IF_ERROR(CheckShapes(op, shape, rois_shape));
  const int64_t rows = op.pooled_shape[0];
  const int64_t columns = op.pooled_shape[1];
  const Loaded<T> x(run.input(op.x));
  const Loaded<Wide<T>> rois(run.input(op.rois));
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.y, run.input(op.x).dtype(),
                                  {rois_shape[0], shape[1], rows, columns}));
  int64_t to = 0;
  for (int64_t r = 0; r < rois_shape[0]; ++r) {
    const Wide<T>* at = rois.data() + 5 * r;  // batch, x1, y1, x2, y2
    const auto image_at = static_cast<double>(Value(at[0]));
    const int64_t batch =
        image_at >= 0 ? static_cast<int64_t>(std::min(image_at, 1e15)) : -1;
    const auto h = ReachOf(at[1], at[3], op.spatial_scale);
    const auto v = ReachOf(at[2], at[4], op.spatial_scale);
    if (batch < 0 || batch >= shape[0] || !h || !v) {
      return InvalidArgument("region ", r, " is [", image_at, ", ",
                             Value(at[1]), ", ", Value(at[2]), ", ",
                             Value(at[3]), ", ", Value(at[4]), "], of ",
                             shape[0], " images");
    }
    for (int64_t c = 0; c < shape[1]; ++c) {
      const T* image = x.data() + (batch * shape[1] + c) * shape[2] * shape[3];
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          y[to++] = Greatest(image, shape[3], v->At(i, rows, shape[2]),
                             h->At(j, columns, shape[3]));
        }
      }
    }
  }
  return OkStatus();
}

}  // namespace

Family RegionPoolingFamily() {
  return FamilyOf(Typed(kFloats, []<class T>() { return &MaxRoiPool<T>; }));
}

}  // namespace assay::reference

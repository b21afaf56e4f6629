// SPDX-License-Identifier: Apache-2.0
//
// Object detection: NonMaxSuppression, RoiAlign and MaxRoiPool.
//
// MaxRoiPool-22 takes the greatest value in each cell of a grid laid over a
// region. The page says what goes in and comes out, and no formula; ONNX's
// reference implementation does not have the operator. Source of the formula:
// the layer of R. Girshick, "Fast R-CNN" (2015), which the page's terms come
// from: the corners are scaled and rounded, halves away from zero; both belong
// to the region, which is at least one element; cell p of P is [floor(p e / P),
// ceil((p + 1) e / P)) of the extent e, cut to the image; an empty one is 0.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/scalar.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

/// A rectangle along two axes.
struct Box {
  // center_point_box: two opposite corners y, x, y, x, or middle and extent
  // x, y, width, height.
  static Box Of(const float* at, bool center) {
    if (center) {
      return {at[1] - at[3] / 2, at[0] - at[2] / 2, at[1] + at[3] / 2,
              at[0] + at[2] / 2};
    }
    return {std::min(at[0], at[2]), std::min(at[1], at[3]),
            std::max(at[0], at[2]), std::max(at[1], at[3])};
  }
  float Area() const { return (y2 - y1) * (x2 - x1); }

  float y1, x1, y2, x2;
};

// Intersection over union.
float Overlap(const Box& a, const Box& b) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0 && width > 0)) return 0;
  const float common = height * width;
  return common / (a.Area() + b.Area() - common);
}

struct Suppression {
  int64_t most = 0;
  float overlap = 0;
  float score = -std::numeric_limits<float>::infinity();
  bool center = false;

  // The boxes kept, greatest score first: each unless it overlaps too much with
  // one kept before.
  Scratch<int64_t> Select(const float* boxes, const float* scores,
                          int64_t count) const {
    Scratch<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (scores[i] > score) order.push_back(i);
    }
    std::ranges::sort(order, [&](int64_t i, int64_t k) {
      return scores[i] != scores[k] ? scores[i] > scores[k] : i < k;
    });
    Scratch<int64_t> kept;
    for (const int64_t i : order) {
      if (std::ssize(kept) >= most) break;
      const Box box = Box::Of(boxes + 4 * i, center);
      const bool hidden = std::ranges::any_of(kept, [&](int64_t k) {
        return Overlap(box, Box::Of(boxes + 4 * k, center)) > overlap;
      });
      if (!hidden) kept.push_back(i);
    }
    return kept;
  }
};

// NonMaxSuppression-11: rows (batch, class, box).
Status NonMaxSuppression(const op::NonMaxSuppression& op, KernelContext& run) {
  const Shape& boxes_shape = run.input(op.boxes).shape();
  const Shape& shape = run.input(op.scores).shape();
  if (boxes_shape.rank() != 3 || shape.rank() != 3 || boxes_shape[2] != 4 ||
      boxes_shape[0] != shape[0] || boxes_shape[1] != shape[2]) {
    return InvalidArgument("boxes of shape ", boxes_shape.ToString(),
                           " and scores of shape ", shape.ToString());
  }
  const Loaded<float> boxes(run.input(op.boxes));
  const Loaded<float> scores(run.input(op.scores));
  const Scratch<int64_t> most =
      IntegersOf(run.input(op.max_output_boxes_per_class));
  const Loaded<float> overlap(run.input(op.iou_threshold));
  const Loaded<float> score(run.input(op.score_threshold));
  Suppression suppression{.center = op.center_point_box != 0};
  if (!most.empty()) suppression.most = most[0];
  if (overlap.size() > 0) suppression.overlap = overlap[0];
  if (score.size() > 0) suppression.score = score[0];
  Scratch<int64_t> rows;
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < shape[1]; ++c) {
      const Scratch<int64_t> kept = suppression.Select(
          boxes.data() + n * shape[2] * 4,
          scores.data() + (n * shape[1] + c) * shape[2], shape[2]);
      for (const int64_t i : kept) rows.insert(rows.end(), {n, c, i});
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.selected_indices, DType::kInt64,
                                    {std::ssize(rows) / 3, 3}));
  std::ranges::copy(rows, y->mutable_elements<int64_t>().begin());
  return OkStatus();
}

/// One axis of a region, in elements of the input.
template <class T>
struct RegionAxis {
  T start;
  T bin;  // the extent of one output element
  int64_t samples;

  T At(int64_t o, int64_t sample) const {
    return start + static_cast<T>(o) * bin +
           (static_cast<T>(sample) + T(1) / T(2)) * bin /
               static_cast<T>(samples);
  }
};

template <class T>
RegionAxis<T> AxisOf(const op::RoiAlign& op, T from, T to, int64_t output) {
  const T scale(op.spatial_scale);
  const bool half = op.coordinate_transformation_mode == "half_pixel";
  const T offset = half ? T(1) / T(2) : T(0);
  const T start = from * scale - offset;
  T extent = to * scale - offset - start;
  if (!half) extent = Max(extent, T(1));  // as before opset 16
  const T bin = extent / static_cast<T>(output);
  if (op.sampling_ratio > 0) return {start, bin, op.sampling_ratio};
  const double samples =
      std::clamp(static_cast<double>(Value(ceil(bin))), 1.0, 1e6);
  // At least one, however small the bin is.
  if (samples > 1) static_cast<void>(Less(bin, T(samples - 1)));
  static_cast<void>(Less(T(samples), bin));
  return {start, bin, static_cast<int64_t>(samples)};
}

/// The neighbours of a position along an axis, none where it is outside.
template <class T>
struct Between {
  Between(T x, int64_t extent) {
    if (IsOutside(x, extent)) return;
    const T within = Max(x, T(0));
    const auto low =
        std::min(static_cast<int64_t>(Value(floor(within))), extent - 1);
    // Each of the terms shows, and so does the cell.
    NoteBetween(T(low), within, T(low == extent - 1 ? extent : low + 1));
    const T right = low == extent - 1 ? T(0) : within - static_cast<T>(low);
    Add(low, T(1) - right);
    Add(std::min(low + 1, extent - 1), right);
  }

  /// The same for a sum of terms: where a Var may be in the next cell too, all
  /// of its neighbours, by one formula.
  static Between Summed(T x, int64_t extent) {
    if constexpr (std::same_as<T, Var>) {
      const T within = Max(x, T(0));
      const double whole = std::nearbyint(within.value());
      if (std::abs(within.value() - whole) < 0x1p-30 &&
          whole <= static_cast<double>(extent - 1)) {
        Between near;
        if (IsOutside(x, extent)) return near;
        for (int64_t k = -1; k <= 1; ++k) {
          const auto at = static_cast<int64_t>(whole) + k;
          near.Add(std::clamp<int64_t>(at, 0, extent - 1),
                   Max(T(0), T(1) - abs(within - T(at))));
        }
        return near;
      }
    }
    return Between(x, extent);
  }

  int count = 0;
  std::array<int64_t, 3> at{};
  std::array<T, 3> weights{};

 private:
  Between() = default;

  static bool IsOutside(T x, int64_t extent) {
    return IsNan(x) || Less(x, T(-1)) || Less(static_cast<T>(extent), x);
  }

  void Add(int64_t i, T weight) {
    at.at(static_cast<size_t>(count)) = i;
    weights.at(static_cast<size_t>(count)) = weight;
    ++count;
  }
};

// One output element: the mean of bilinear samples, or, in mode max, the
// greatest of their four weighted terms.
template <class T>
T SampleBin(const op::RoiAlign& op, const RegionAxis<T>& v,
            const RegionAxis<T>& h, int64_t row, int64_t column, const T* image,
            int64_t height, int64_t width) {
  const bool sums = op.mode != "max";
  const auto place = [sums](T x, int64_t extent) {
    return sums ? Between<T>::Summed(x, extent) : Between<T>(x, extent);
  };
  T sum(0);
  Choose<T> greatest;
  for (int64_t i = 0; i < v.samples; ++i) {
    const Between<T> y = place(v.At(row, i), height);
    for (int64_t j = 0; j < h.samples; ++j) {
      const Between<T> x = place(h.At(column, j), width);
      if (y.count == 0 || x.count == 0) {
        if (!sums) greatest.Offer(T(0), 0);
        continue;
      }
      T here(0);
      for (size_t k = 0; k < static_cast<size_t>(y.count); ++k) {
        for (size_t l = 0; l < static_cast<size_t>(x.count); ++l) {
          const T term =
              y.weights[k] * x.weights[l] * image[y.at[k] * width + x.at[l]];
          if (sums) {
            here += term;
          } else {
            greatest.Offer(term, 0);
          }
        }
      }
      sum += here;
    }
  }
  if (!sums) return greatest.best();
  return sum / static_cast<T>(v.samples * h.samples);
}

// RoiAlign-22 (He et al. 2017, Mask R-CNN).
template <class T>
Status RoiAlign(const op::RoiAlign& op, KernelContext& run) {
  const Tensor& input = run.input(op.x);
  const Shape& shape = input.shape();
  const Shape& regions = run.input(op.rois).shape();
  const Scratch<int64_t> batches = IntegersOf(run.input(op.batch_indices));
  if (shape.rank() != 4 || regions.rank() != 2 || regions[1] != 4 ||
      std::cmp_not_equal(batches.size(), regions[0])) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", rois of shape ", regions.ToString(), " and ",
                           batches.size(), " batch_indices");
  }
  if (op.output_height < 1 || op.output_width < 1) {
    return InvalidArgument("output_height is ", op.output_height,
                           ", output_width ", op.output_width);
  }
  const Loaded<T> x(input);
  const Loaded<T> rois(run.input(op.rois));
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, input.dtype(),
                                          {regions[0], shape[1],
                                           op.output_height, op.output_width}));
  int64_t at = 0;
  for (int64_t r = 0; r < regions[0]; ++r) {
    const int64_t batch = batches[static_cast<size_t>(r)];
    if (batch < 0 || batch >= shape[0]) {
      return InvalidArgument("batch index ", batch, " of ", shape[0]);
    }
    const T* region = rois.data() + 4 * r;  // x1, y1, x2, y2
    const auto h = AxisOf<T>(op, region[0], region[2], op.output_width);
    const auto v = AxisOf<T>(op, region[1], region[3], op.output_height);
    for (int64_t c = 0; c < shape[1]; ++c) {
      const T* image = x.data() + (batch * shape[1] + c) * shape[2] * shape[3];
      for (int64_t i = 0; i < op.output_height; ++i) {
        for (int64_t j = 0; j < op.output_width; ++j) {
          y[at++] = SampleBin(op, v, h, i, j, image, shape[2], shape[3]);
        }
      }
    }
  }
  return OkStatus();
}

Result<Kernel> MakeRoiAlign(const op::RoiAlign& op, LoadContext& load) {
  if (op.mode != "avg" && op.mode != "max") {
    return Unsupported(Reason::kAttribute, "mode is '", op.mode, "'");
  }
  return Dispatch(load, op.x, kFloats,
                  [&]<class T>() { return std::bind_front(&RoiAlign<T>, op); });
}

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
  ASSAY_ASSIGN_OR_RETURN(auto y,
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

Family DetectionFamily() {
  return FamilyOf(NonMaxSuppression, MakeRoiAlign,
                  Typed(kFloats, []<class T>() { return &MaxRoiPool<T>; }));
}

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/primitive/reorder.h"

#include <algorithm>
#include <utility>

namespace assay::onednn {
namespace {

/// Drops axes of one element and joins neighbours that are one in both tensors.
Reorder Joined(const Reorder& reorder) {
  Reorder joined;
  joined.from.offset = reorder.from.offset;
  joined.to.offset = reorder.to.offset;
  if (kernels::Product(reorder.dims, 0, reorder.dims.size()) == 0) {
    joined.dims = {0};
    joined.from.strides = joined.to.strides = {1};
    return joined;
  }
  for (size_t i = 0; i < reorder.dims.size(); ++i) {
    const int64_t extent = reorder.dims[i];
    const int64_t from = reorder.from.strides[i];
    const int64_t to = reorder.to.strides[i];
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
Reorder InLanes(Reorder reorder, int64_t lanes) {
  if (lanes == 1) return reorder;
  for (Strided* side : {&reorder.from, &reorder.to}) {
    for (int64_t& stride : side->strides) stride *= lanes;
    side->strides.push_back(1);
    side->offset *= lanes;
  }
  reorder.dims.push_back(lanes);
  return reorder;
}

using kernels::AxisRun;

/// The runs as reorders take them. oneDNN wants `count` strides of an axis
/// within a stride of the axis before it: a last entry for which there is no
/// whole step left is apart. A run backwards is one run an element.
Result<std::vector<AxisRun>> Forward(const std::vector<AxisRun>& runs,
                                     int64_t extent) {
  std::vector<AxisRun> forward;
  for (AxisRun run : runs) {
    const bool back = run.step < 0 && run.count > 1;
    const bool fits = run.count < 2 || run.count * run.step <= extent;
    const int64_t apart = back ? run.count : fits ? 0 : 1;
    if (apart > kMostReorders) {
      return ResourceExhausted("the copy falls into more than ", kMostReorders,
                               " reorders");
    }
    run.count -= apart;
    if (run.count > 0 || apart == 0) {
      forward.push_back(
          {run.to, run.from, std::max<int64_t>(run.step, 0), run.count});
    }
    for (int64_t i = run.count; i < run.count + apart; ++i) {
      forward.push_back({run.to + i, run.from + i * run.step, 1, 1});
    }
  }
  return forward;
}

int64_t WidthOf(memory::data_type type) {
  return static_cast<int64_t>(memory::data_type_size(type));
}

}  // namespace

memory::desc LaneView::As(memory::dims dims) const {
  dims.back() *= lanes;
  return view.As(dims);
}

Result<LaneView> ViewLanes(const ChainBuilder& chain, DType dtype,
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
  return LaneView{std::move(view), width / WidthOf(type)};
}

Result<LaneView> ViewLanes(ChainBuilder& chain, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, chain.ShapeOf(input));
  return ViewLanes(chain, chain.dtype(input), shape);
}

void AddReorder(ChainBuilder& chain, Input input, const LaneView& x,
                Output output, const LaneView& y, const Reorder& reorder) {
  const Reorder joined = Joined(InLanes(reorder, x.lanes));
  const int64_t width = WidthOf(x.view.type);
  chain.DeclineFor(Reason::kShape);
  chain.Copy(
      chain.In(input,
               StridedDesc(joined.dims, x.view.type, joined.from.strides),
               joined.from.offset * width),
      chain.Out(output, y.view,
                StridedDesc(joined.dims, y.view.type, joined.to.strides),
                joined.to.offset * width));
}

Status AddRuns(ChainBuilder& chain, Input input, const LaneView& x,
               Output output, const LaneView& y,
               const std::vector<std::vector<AxisRun>>& axes) {
  std::vector<std::vector<AxisRun>> runs(axes.size());
  int64_t count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(runs[i], Forward(axes[i], x.view.shape.dims()[i]));
    if (__builtin_mul_overflow(count, std::ssize(runs[i]), &count) ||
        count > kMostReorders) {
      return ResourceExhausted("the copy falls into more than ", kMostReorders,
                               " reorders");
    }
  }
  const memory::dims from = kernels::RowMajorStrides(x.view.shape.dims());
  const memory::dims to = kernels::RowMajorStrides(y.view.shape.dims());
  for (int64_t number = 0; number < count; ++number) {
    Reorder reorder;
    int64_t rest = number;
    for (size_t i = 0; i < runs.size(); ++i) {
      const auto here = std::lldiv(rest, std::ssize(runs[i]));
      const AxisRun& run = runs[i][static_cast<size_t>(here.rem)];
      rest = here.quot;
      reorder.dims.push_back(run.count);
      reorder.from.offset += run.from * from[i];
      reorder.from.strides.push_back(run.step * from[i]);
      reorder.to.offset += run.to * to[i];
      reorder.to.strides.push_back(to[i]);
    }
    AddReorder(chain, input, x, output, y, reorder);
  }
  return OkStatus();
}

}  // namespace assay::onednn

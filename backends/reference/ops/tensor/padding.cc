// SPDX-License-Identifier: Apache-2.0
//
// Operators whose result reads, along each axis on its own, given positions of
// the input or none: Pad and CenterCropPad.

#include <functional>
#include <numeric>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

/// For each position along an axis of the result, the position of the input
/// that it reads; kNowhere: the fill value.
using AxisMap = std::vector<int64_t>;
constexpr int64_t kNowhere = -1;

/// y[i, j, ...] = x[maps[0][i], maps[1][j], ...].
void MoveByMaps(const Tensor& x, const Tensor& fill,
                const std::vector<AxisMap>& maps, Tensor& y) {
  FillElements(fill, y);
  if (y.num_elements() == 0) return;
  if (maps.empty()) {
    MoveElements(x, y, Nest<2>({}, {}));
    return;
  }
  const Strides dense = DenseStrides(x.shape());
  const AxisMap& last = maps.back();
  const auto outer = maps.size() - 1;
  std::vector<size_t> index(outer, 0);
  const Nest<2> one({}, {});
  for (int64_t row = 0;; row += static_cast<int64_t>(last.size())) {
    int64_t start = 0;
    bool inside = true;
    for (size_t k = 0; k < outer; ++k) {
      inside = inside && maps[k][index[k]] != kNowhere;
      start += maps[k][index[k]] * dense[k];
    }
    for (size_t i = 0; inside && i < last.size(); ++i) {
      if (last[i] == kNowhere) continue;
      MoveElements(x, y, one, start + last[i], row + static_cast<int64_t>(i));
    }
    size_t k = outer;
    while (k > 0 && ++index[k - 1] == maps[k - 1].size()) index[--k] = 0;
    if (k == 0) return;
  }
}

/// Position i of an axis of `extent`, which may lie outside, as Pad-25's modes
/// map it; kNowhere where the mode is constant or the axis is empty.
int64_t Mapped(int64_t i, int64_t extent, std::string_view mode) {
  if (i >= 0 && i < extent) return i;
  if (mode == "constant" || extent == 0) return kNowhere;
  if (mode == "edge") return i < 0 ? 0 : extent - 1;
  const bool wraps = mode == "wrap";
  const int64_t period = wraps ? extent : 2 * (extent - 1);
  if (period == 0) return 0;
  const int64_t phase = ((i % period) + period) % period;
  return phase < extent ? phase : period - phase;  // reflect: without the edge
}

Status Pad(const op::Pad& op, KernelContext& run) {
  const Tensor& x = run.input(op.data);
  const int rank = x.shape().rank();
  const std::vector<int64_t> pads = IntegersOf(run.input(op.pads));
  std::vector<int64_t> axes = IntegersOf(run.input(op.axes));
  if (!op.axes.present) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) {
    return InvalidArgument("pads has ", pads.size(), " elements, wanted ",
                           2 * axes.size());
  }
  std::vector<int64_t> begins(static_cast<size_t>(rank), 0);
  Shape shape = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(axes[i], rank));
    begins[static_cast<size_t>(axis)] = pads[i];
    if (__builtin_add_overflow(shape[axis], pads[i], &shape[axis]) ||
        __builtin_add_overflow(shape[axis], pads[i + axes.size()],
                               &shape[axis]) ||
        shape[axis] < 0) {
      return InvalidArgument("pads ", Shape(pads).ToString(),
                             " do not fit an input of shape ",
                             x.shape().ToString());
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  if (y->num_elements() == 0) return OkStatus();
  std::vector<AxisMap> maps;
  for (int axis = 0; axis < rank; ++axis) {
    AxisMap map;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      map.push_back(Mapped(i - begins[static_cast<size_t>(axis)],
                           x.shape()[axis], op.mode));
    }
    maps.push_back(std::move(map));
  }
  MoveByMaps(x, run.input(op.constant_value), maps, *y);
  return OkStatus();
}

// CenterCropPad-18: both sides alike, the odd element cropped or padded at the
// end.
Status CenterCropPad(const op::CenterCropPad& op, KernelContext& run) {
  const Tensor& x = run.input(op.input_data);
  const int rank = x.shape().rank();
  const std::vector<int64_t> wanted = IntegersOf(run.input(op.shape));
  std::vector<int64_t> axes = op.axes;
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (wanted.size() != axes.size()) {
    return InvalidArgument("shape has ", wanted.size(), " elements, wanted ",
                           axes.size());
  }
  Shape shape = x.shape();
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(axes[i], rank));
    shape[axis] = wanted[i];
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.output_data, x.dtype(), shape));
  if (y->num_elements() == 0) return OkStatus();
  std::vector<AxisMap> maps;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = x.shape()[axis];
    const int64_t shift = shape[axis] < extent ? (extent - shape[axis]) / 2
                                               : -((shape[axis] - extent) / 2);
    AxisMap map;
    for (int64_t i = 0; i < shape[axis]; ++i) {
      map.push_back(Mapped(i + shift, extent, "constant"));
    }
    maps.push_back(std::move(map));
  }
  MoveByMaps(x, Tensor(), maps, *y);
  return OkStatus();
}

Result<Kernel> MakePad(const op::Pad& op, LoadContext& load) {
  if (op.mode != "constant" && op.mode != "edge" && op.mode != "reflect" &&
      op.mode != "wrap") {
    return InvalidArgument("mode is '", op.mode,
                           "', wanted constant, edge, reflect or wrap");
  }
  return WithMovedGradient(
      load, op.data, MovingKernel(load, op.data, std::bind_front(&Pad, op)));
}

}  // namespace

Family PaddingFamily() { return FamilyOf(MakePad, Moved(CenterCropPad)); }

}  // namespace assay::reference

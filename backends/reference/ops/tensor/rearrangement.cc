// SPDX-License-Identifier: Apache-2.0
//
// Operators that put elements elsewhere, or read their bits anew: BitCast,
// ReverseSequence, TensorScatter, and Pad and CenterCropPad, which move
// elements axis by axis.

#include <cstring>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/moving.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/ops/tensor/movement.h"
#include "backends/reference/typed_rows.h"
#include "framework/backend/backend.h"

namespace assay::reference {
namespace {

// BitCast-26: the same bytes as elements of another type of equal width.
Status BitCast(const op::BitCast& op, DType to, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, to, x.shape()));
  if (x.byte_size() > 0) {
    std::memcpy(y->mutable_data(), x.data(), x.bytes().size());
  }
  return OkStatus();
}

// ReverseSequence-10: the first sequence_lens[b] slices along the time axis of
// batch b are reversed, the others stay.
Status ReverseSequence(const op::ReverseSequence& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Shape& shape = x.shape();
  const Scratch<int64_t> lengths = IntegersOf(run.input(op.sequence_lens));
  const bool two_axes = (op.batch_axis == 0 && op.time_axis == 1) ||
                        (op.batch_axis == 1 && op.time_axis == 0);
  if (!two_axes || shape.rank() < 2) {
    return InvalidArgument("batch_axis is ", op.batch_axis, " and time_axis ",
                           op.time_axis, " for an input of shape ",
                           shape.ToString(), ", wanted 0 and 1 or 1 and 0");
  }
  const int batch = static_cast<int>(op.batch_axis);
  const int time = static_cast<int>(op.time_axis);
  if (std::cmp_not_equal(lengths.size(), shape[batch])) {
    return InvalidArgument("sequence_lens has ", lengths.size(),
                           " elements, wanted ", shape[batch]);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.y, x.dtype(), shape));
  const Strides dense = DenseStrides(shape);
  const int64_t step = dense[static_cast<size_t>(time)];
  for (int64_t b = 0; b < shape[batch]; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    if (length < 0 || length > shape[time]) {
      return InvalidArgument("sequence ", b, " has the length ", length, " of ",
                             shape[time]);
    }
    const int64_t start = b * dense[static_cast<size_t>(batch)];
    Shape part = shape;
    part[batch] = 1;
    part[time] = length;
    Strides backwards = dense;
    backwards[static_cast<size_t>(time)] = -step;
    if (length > 0) {
      MoveElements(x, *y, Nest<2>(part, {backwards, dense}),
                   start + (length - 1) * step, start);
    }
    part[time] = shape[time] - length;
    MoveElements(x, *y, Nest<2>(part, {dense, dense}), start + length * step,
                 start + length * step);
  }
  return OkStatus();
}

// TensorScatter-24: the cache with `update` written, for each batch, from
// write_indices[b] on along the axis; around its end in mode circular.
Status TensorScatter(const op::TensorScatter& op, KernelContext& run) {
  const Tensor& cache = run.input(op.past_cache);
  const Tensor& update = run.input(op.update);
  const Shape& shape = cache.shape();
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, shape));
  Shape fits = update.shape();
  if (fits.rank() == shape.rank()) fits[axis] = shape[axis];
  if (fits != shape || axis == 0 || update.dtype() != cache.dtype() ||
      update.shape()[axis] > shape[axis]) {
    return InvalidArgument("an update ", update.Signature(), " along axis ",
                           axis, " of a cache ", cache.Signature());
  }
  Scratch<int64_t> starts = IntegersOf(run.input(op.write_indices));
  if (starts.empty()) starts.assign(static_cast<size_t>(shape[0]), 0);
  if (std::cmp_not_equal(starts.size(), shape[0])) {
    return InvalidArgument("write_indices has ", starts.size(),
                           " elements, wanted ", shape[0]);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(op.present_cache, cache.dtype(), shape));
  const Strides dense = DenseStrides(shape);
  const Strides from = DenseStrides(update.shape());
  MoveElements(cache, *y, Nest<2>(shape, {dense, dense}));
  const auto k = static_cast<size_t>(axis);
  const int64_t count = update.shape()[axis];
  const bool circular = op.mode == "circular";
  for (int64_t b = 0; b < shape[0]; ++b) {
    const int64_t start = starts[static_cast<size_t>(b)];
    if (start < 0 || (!circular && start > shape[axis] - count)) {
      return InvalidArgument("write index ", start, " with ", count,
                             " slices for an axis of ", shape[axis]);
    }
    for (int64_t i = 0; i < count; ++i) {
      Shape slice = update.shape();
      slice[0] = 1;
      slice[axis] = 1;
      const int64_t to = (start + i) % shape[axis];
      MoveElements(update, *y, Nest<2>(slice, {from, dense}),
                   b * from[0] + i * from[k], b * dense[0] + to * dense[k]);
    }
  }
  return OkStatus();
}

Result<Kernel> MakeBitCast(const op::BitCast& op, LoadContext& load) {
  const DType from = load.dtype(op.input);
  const DType to =
      DTypeFromOnnx(static_cast<int>(op.to)).value_or(DType::kUndefined);
  if (from == DType::kString || to == DType::kString ||
      to == DType::kUndefined || BitsOf(from) != BitsOf(to)) {
    return InvalidArgument("from ", from, " to ", to,
                           ", wanted types of equal width");
  }
  if (load.options().exact && (IsFloatingPoint(from) || IsFloatingPoint(to))) {
    return Unsupported(Reason::kDType, "from ", from, " to ", to,
                       ": the bits of an exact number are no value");
  }
  return Kernel{.forward = std::bind_front(&BitCast, op, to)};
}

Result<Kernel> MakeTensorScatter(const op::TensorScatter& op,
                                 LoadContext& load) {
  if (op.mode != "linear" && op.mode != "circular") {
    return Unsupported(Reason::kAttribute, "mode is '", op.mode, "'");
  }
  return WithMovedGradient(
      load, op.past_cache,
      MovingKernel(load, op.past_cache, std::bind_front(&TensorScatter, op)));
}

/// For each position along an axis of the result, the position of the input
/// that it reads; kNowhere: the fill value.
using AxisMap = Scratch<int64_t>;
constexpr int64_t kNowhere = -1;

/// y[i, j, ...] = x[maps[0][i], maps[1][j], ...].
void MoveByMaps(const Tensor& x, const Tensor& fill,
                const Scratch<AxisMap>& maps, Tensor& y) {
  FillElements(fill, y);
  if (y.num_elements() == 0) return;
  if (maps.empty()) {
    MoveElements(x, y, Nest<2>({}, {}));
    return;
  }
  const Strides dense = DenseStrides(x.shape());
  const AxisMap& last = maps.back();
  const auto outer = maps.size() - 1;
  Scratch<size_t> index(outer, 0);
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

/// The map of positions from `shift` on.
AxisMap AxisMapOf(int64_t count, int64_t shift, int64_t extent,
                  std::string_view mode) {
  AxisMap map;
  for (int64_t i = 0; i < count; ++i) {
    map.push_back(Mapped(i + shift, extent, mode));
  }
  return map;
}

Status Pad(const op::Pad& op, KernelContext& run) {
  const Tensor& x = run.input(op.data);
  const int rank = x.shape().rank();
  const Scratch<int64_t> pads = IntegersOf(run.input(op.pads));
  const Dims axes =
      AxesOrAll(IntegersOf(run.input(op.axes)), op.axes.present, rank);
  if (pads.size() != 2 * axes.size()) {
    return InvalidArgument("pads has ", pads.size(), " elements, wanted ",
                           2 * axes.size());
  }
  Dims begins(static_cast<size_t>(rank), 0);
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
  Scratch<AxisMap> maps;
  for (int axis = 0; axis < rank; ++axis) {
    maps.push_back(AxisMapOf(shape[axis], -begins[static_cast<size_t>(axis)],
                             x.shape()[axis], op.mode));
  }
  MoveByMaps(x, run.input(op.constant_value), maps, *y);
  return OkStatus();
}

// CenterCropPad-18: both sides alike, the odd element cropped or padded at the
// end.
Status CenterCropPad(const op::CenterCropPad& op, KernelContext& run) {
  const Tensor& x = run.input(op.input_data);
  const int rank = x.shape().rank();
  const Scratch<int64_t> wanted = IntegersOf(run.input(op.shape));
  const Dims axes = AxesOrAll(op.axes, !op.axes.empty(), rank);
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
  Scratch<AxisMap> maps;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t extent = x.shape()[axis];
    const int64_t shift = shape[axis] < extent ? (extent - shape[axis]) / 2
                                               : -((shape[axis] - extent) / 2);
    maps.push_back(AxisMapOf(shape[axis], shift, extent, "constant"));
  }
  MoveByMaps(x, Tensor(), maps, *y);
  return OkStatus();
}

Result<Kernel> MakePad(const op::Pad& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(
      WordOf("mode", op.mode, {"constant", "edge", "reflect", "wrap"})
          .status());
  return WithMovedGradient(
      load, op.data, MovingKernel(load, op.data, std::bind_front(&Pad, op)));
}

}  // namespace

Family RearrangementFamily() {
  return FamilyOf(MakeBitCast, Moved(ReverseSequence), MakeTensorScatter,
                  MakePad, Moved(CenterCropPad));
}

}  // namespace assay::reference

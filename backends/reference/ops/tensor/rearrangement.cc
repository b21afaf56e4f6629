// SPDX-License-Identifier: Apache-2.0
//
// Operators that put elements elsewhere, or read their bits anew: BitCast,
// ReverseSequence, TensorScatter.

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
  const std::vector<int64_t> lengths = IntegersOf(run.input(op.sequence_lens));
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
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, shape.rank()));
  Shape fits = update.shape();
  if (fits.rank() == shape.rank()) fits[axis] = shape[axis];
  if (fits != shape || axis == 0 || update.dtype() != cache.dtype() ||
      update.shape()[axis] > shape[axis]) {
    return InvalidArgument("an update ", update.Signature(), " along axis ",
                           axis, " of a cache ", cache.Signature());
  }
  std::vector<int64_t> starts = IntegersOf(run.input(op.write_indices));
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

}  // namespace

Family RearrangementFamily() {
  return FamilyOf(MakeBitCast, Moved(ReverseSequence), MakeTensorScatter);
}

}  // namespace assay::reference

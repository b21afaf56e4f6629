// SPDX-License-Identifier: Apache-2.0
//
// Operators that put elements elsewhere, whatever they are: each states the
// shape of its result and the strides at which it reads.

#include "backends/reference/ops/tensor/movement.h"

#include <numeric>
#include <optional>

#include "backends/reference/families.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {

Scratch<int64_t> IntegersOf(const Tensor& tensor) {
  const Loaded<int64_t> values(tensor);
  return {values.data(), values.data() + values.size()};
}

Dims AxesOrAll(std::span<const int64_t> axes, bool given, int rank) {
  if (given) return Dims(axes);
  Dims all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void MoveElements(const Tensor& x, Tensor& y, const Nest<2>& nest,
                  int64_t x_start, int64_t y_start) {
  DispatchUnit(x.dtype(), [&]<class Unit>() {
    const Unit* from = Units<Unit>(x);
    Unit* to = MutableUnits<Unit>(y);
    nest.ForEachRow(
        [&](const Nest<2>::Row& row) {
          const Unit* p = from + row.at[0];
          Unit* q = to + row.at[1];
          if (row.step[0] == 1 && row.step[1] == 1) {
            std::copy_n(p, row.count, q);
          } else {
            for (int64_t i = 0; i < row.count; ++i) {
              q[i * row.step[1]] = p[i * row.step[0]];
            }
          }
        },
        {x_start, y_start});
  });
}

void FillElements(const Tensor& value, Tensor& y) {
  const bool given = value.num_elements() == 1;
  if (given && value.dtype() != y.dtype()) {  // a number, among Vars
    const Loaded<Var> number(value);
    std::ranges::fill(y.mutable_elements<Var>(), number[0]);
    return;
  }
  const bool whole = DispatchUnit(y.dtype(), [&]<class Unit>() {
    std::fill_n(MutableUnits<Unit>(y), y.num_elements(),
                given ? *Units<Unit>(value) : Unit());
  });
  if (whole) return;
  uint8_t code = 0;
  if (given) UnpackCodes(value, &code);
  const Scratch<uint8_t> codes(static_cast<size_t>(y.num_elements()), code);
  PackCodes(codes.data(), y);
}

namespace {

/// Moves the axes of a view of x by `perm`, into an output of that shape or,
/// where there is none, of the moved axes.
Status Permute(const Tensor& x, const Shape& view, const Dims& perm,
               const std::optional<Shape>& shape, Output output,
               KernelContext& run) {
  const Strides dense = DenseStrides(view);
  Dims dims;
  Strides strides;
  for (const int64_t axis : perm) {
    dims.push_back(view[static_cast<int>(axis)]);
    strides.push_back(dense[static_cast<size_t>(axis)]);
  }
  const Shape moved(dims);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                         run.Output(output, x.dtype(), shape.value_or(moved)));
  MoveElements(x, *y, Nest<2>(moved, {strides, DenseStrides(moved)}));
  return OkStatus();
}

// Transpose-25: axis i of the result is axis perm[i] of the data; reversed when
// perm is not given.
Status Transpose(const op::Transpose& op, KernelContext& run) {
  const Tensor& x = run.input(op.data);
  const auto rank = static_cast<size_t>(x.shape().rank());
  Dims perm(op.perm);
  if (perm.empty()) {
    perm.resize(rank);
    std::iota(perm.begin(), perm.end(), 0);
    std::ranges::reverse(perm);
  }
  Dims sorted = perm;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < std::max(rank, sorted.size()); ++i) {
    if (sorted.size() != rank || std::cmp_not_equal(sorted[i], i)) {
      return InvalidArgument("perm is ", Shape(perm).ToString(),
                             ", wanted a permutation of ", rank, " axes");
    }
  }
  return Permute(x, x.shape(), perm, std::nullopt, op.transposed, run);
}

// Concat-13: equal shapes but along `axis`.
Status Concat(const op::Concat& op, KernelContext& run) {
  Shape shape = run.input(op.inputs[0]).shape();
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, shape));
  for (int k = 1; k < op.inputs.count; ++k) {
    Shape next = run.input(op.inputs[k]).shape();
    const int64_t extent = next.rank() == shape.rank() ? next[axis] : 0;
    if (next.rank() == shape.rank()) next[axis] = shape[axis];
    if (next != shape) {
      return InvalidArgument("input ", k, " of shape ",
                             run.input(op.inputs[k]).shape().ToString(),
                             " does not join those before, ", shape.ToString(),
                             ", along axis ", axis);
    }
    shape[axis] += extent;
  }
  ASSAY_ASSIGN_OR_RETURN(
      Tensor * y,
      run.Output(op.concat_result, run.input(op.inputs[0]).dtype(), shape));
  const Strides dense = DenseStrides(shape);
  int64_t start = 0;
  for (int k = 0; k < op.inputs.count; ++k) {
    const Tensor& x = run.input(op.inputs[k]);
    MoveElements(x, *y, Nest<2>(x.shape(), {DenseStrides(x.shape()), dense}), 0,
                 start);
    start += x.shape()[axis] * dense[static_cast<size_t>(axis)];
  }
  return OkStatus();
}

// Split-18: by the sizes of the input, else into num_outputs equal parts, the
// last of which may be smaller.
Result<Scratch<int64_t>> SplitSizes(const op::Split& op, int64_t extent,
                                    const Scratch<int64_t>& given) {
  const int64_t parts = op.outputs.count;
  if (!op.split.present) {
    const int64_t size = (extent + parts - 1) / parts;
    Scratch<int64_t> sizes(static_cast<size_t>(parts), size);
    for (int64_t k = 0; k < parts; ++k) {
      sizes[static_cast<size_t>(k)] =
          std::clamp<int64_t>(extent - k * size, 0, size);
    }
    return sizes;
  }
  const int64_t sum = std::accumulate(given.begin(), given.end(), int64_t{0});
  if (std::cmp_not_equal(given.size(), parts) || sum != extent ||
      std::ranges::any_of(given, [](int64_t size) { return size < 0; })) {
    return InvalidArgument("split is ", Shape(given).ToString(), ", wanted ",
                           parts, " sizes that sum to ", extent);
  }
  return given;
}

Status Split(const op::Split& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(op.axis, x.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      const auto sizes,
      SplitSizes(op, x.shape()[axis], IntegersOf(run.input(op.split))));
  const Strides dense = DenseStrides(x.shape());
  int64_t start = 0;
  for (int k = 0; k < op.outputs.count; ++k) {
    Shape shape = x.shape();
    shape[axis] = sizes[static_cast<size_t>(k)];
    ASSAY_ASSIGN_OR_RETURN(Tensor * y,
                           run.Output(op.outputs[k], x.dtype(), shape));
    if (y != nullptr) {
      MoveElements(x, *y, Nest<2>(shape, {dense, DenseStrides(shape)}), start);
    }
    start += shape[axis] * dense[static_cast<size_t>(axis)];
  }
  return OkStatus();
}

/// One axis of a slice: `count` elements from `start`, `step` apart.
struct SliceAxis {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// Slice-13: negative bounds count from the end, then both are clamped, to
// [0, extent] for a positive step and to [-1, extent - 1] for a negative one.
Result<SliceAxis> PlanSlice(int64_t extent, int64_t start, int64_t end,
                            int64_t step) {
  if (step == 0) return InvalidArgument("a step is 0");
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? extent : extent - 1;
  const auto clamped = [&](int64_t bound) {
    return std::clamp(bound < 0 ? bound + extent : bound, low, high);
  };
  const int64_t first = clamped(start);
  const int64_t span = step > 0 ? clamped(end) - first : first - clamped(end);
  // A step beyond the extent takes one element; it must not overflow.
  const int64_t stride = std::clamp(step, -std::max<int64_t>(extent, 1),
                                    std::max<int64_t>(extent, 1));
  const int64_t magnitude = stride < 0 ? -stride : stride;
  return SliceAxis{first, stride,
                   span <= 0 ? 0 : (span + magnitude - 1) / magnitude};
}

Status Slice(const op::Slice& op, KernelContext& run) {
  const Tensor& x = run.input(op.data);
  const Scratch<int64_t> starts = IntegersOf(run.input(op.starts));
  const Scratch<int64_t> ends = IntegersOf(run.input(op.ends));
  const Dims axes = AxesOrAll(IntegersOf(run.input(op.axes)), op.axes.present,
                              static_cast<int>(starts.size()));
  Scratch<int64_t> steps = IntegersOf(run.input(op.steps));
  if (!op.steps.present) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return InvalidArgument("starts, ends, axes and steps have ", starts.size(),
                           ", ", ends.size(), ", ", axes.size(), " and ",
                           steps.size(), " elements, wanted equal numbers");
  }
  Shape shape = x.shape();
  Strides strides = DenseStrides(shape);
  int64_t first = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(axes[i], shape));
    ASSAY_ASSIGN_OR_RETURN(
        const SliceAxis slice,
        PlanSlice(x.shape()[axis], starts[i], ends[i], steps[i]));
    int64_t& stride = strides[static_cast<size_t>(axis)];
    if (slice.count > 0) first += slice.start * stride;
    stride *= slice.step;
    shape[axis] = slice.count;
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  MoveElements(x, *y, Nest<2>(shape, {strides, DenseStrides(shape)}), first);
  return OkStatus();
}

// Expand-13: multidirectional broadcasting, so that an extent of 1 in `shape`
// keeps the input's.
Status Expand(const op::Expand& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  ASSAY_ASSIGN_OR_RETURN(
      const Shape shape,
      Broadcast(x.shape(), Shape(IntegersOf(run.input(op.shape)))));
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  MoveElements(x, *y,
               Nest<2>(shape, {BroadcastStrides(x.shape(), shape),
                               DenseStrides(shape)}));
  return OkStatus();
}

// Tile-13: axis k is repeated repeats[k] times. Written as axes
// [repeats[0], extent[0], repeats[1], extent[1], ...] of the result.
Status Tile(const op::Tile& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Scratch<int64_t> repeats = IntegersOf(run.input(op.repeats));
  if (std::cmp_not_equal(repeats.size(), x.shape().rank())) {
    return InvalidArgument("repeats has ", repeats.size(),
                           " elements, wanted one for each axis of ",
                           x.shape().ToString());
  }
  const Strides dense = DenseStrides(x.shape());
  Shape shape = x.shape();
  Dims split;
  Strides strides;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (repeats[i] < 0 ||
        __builtin_mul_overflow(shape[axis], repeats[i], &shape[axis])) {
      return InvalidArgument("repeats is ", Shape(repeats).ToString());
    }
    split.push_back(repeats[i]);
    split.push_back(x.shape()[axis]);
    strides.push_back(0);
    strides.push_back(dense[i]);
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  const Shape axes(split);
  MoveElements(x, *y, Nest<2>(axes, {strides, DenseStrides(axes)}));
  return OkStatus();
}

/// Checks that depth divides by the square of the block, or height and width by
/// the block, and that their products fit.
Status CheckBlocks(const Shape& shape, int64_t block, bool of_depth) {
  int64_t square = 0;
  int64_t grown = 0;
  bool right = shape.rank() == 4 && block >= 1 &&
               !__builtin_mul_overflow(block, block, &square);
  if (right && of_depth) {
    right = shape[1] % square == 0 &&
            !__builtin_mul_overflow(shape[2], block, &grown) &&
            !__builtin_mul_overflow(shape[3], block, &grown);
  } else if (right) {
    right = shape[2] % block == 0 && shape[3] % block == 0 &&
            !__builtin_mul_overflow(shape[1], square, &grown);
  }
  if (right) return OkStatus();
  return InvalidArgument("an input of shape ", shape.ToString(),
                         " does not divide into blocks of ", block);
}

// DepthToSpace-28: mode DCR takes [b, b, C] out of the depth, CRD [C, b, b].
Status DepthToSpace(const op::DepthToSpace& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Shape& s = x.shape();
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(CheckBlocks(s, b, /*of_depth=*/true));
  const int64_t depth = s[1] / (b * b);
  const Shape shape = {s[0], depth, s[2] * b, s[3] * b};
  if (op.mode == "CRD") {
    return Permute(x, {s[0], depth, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3},
                   shape, op.output, run);
  }
  return Permute(x, {s[0], b, b, depth, s[2], s[3]}, {0, 3, 4, 1, 5, 2}, shape,
                 op.output, run);
}

// SpaceToDepth-28: the inverse of DepthToSpace with the same mode.
Status SpaceToDepth(const op::SpaceToDepth& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Shape& s = x.shape();
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(CheckBlocks(s, b, /*of_depth=*/false));
  const Shape view = {s[0], s[1], s[2] / b, b, s[3] / b, b};
  const Shape shape = {s[0], s[1] * b * b, s[2] / b, s[3] / b};
  if (op.mode == "CRD") {
    return Permute(x, view, {0, 1, 3, 5, 2, 4}, shape, op.output, run);
  }
  return Permute(x, view, {0, 3, 5, 1, 2, 4}, shape, op.output, run);
}

// Trilu-14: the triangle on and above diagonal k, or on and below it; zeros
// elsewhere.
Status Trilu(const op::Trilu& op, KernelContext& run) {
  const Tensor& x = run.input(op.input);
  const Shape& shape = x.shape();
  if (shape.rank() < 2) {
    return InvalidArgument("an input of shape ", shape.ToString(),
                           ", wanted at least two axes");
  }
  const Scratch<int64_t> given = IntegersOf(run.input(op.k));
  const int64_t rows = shape[shape.rank() - 2];
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t diagonal =
      std::clamp(given.empty() ? 0 : given[0], -rows, columns);
  ASSAY_ASSIGN_OR_RETURN(Tensor * y, run.Output(op.output, x.dtype(), shape));
  FillElements(Tensor(), *y);
  const int64_t lines = Extent(shape, 0, shape.rank() - 1);
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t edge = line % rows + diagonal;
    const int64_t first =
        std::clamp<int64_t>(op.upper != 0 ? edge : 0, 0, columns);
    const int64_t last =
        std::clamp<int64_t>(op.upper != 0 ? columns : edge + 1, 0, columns);
    if (first >= last) continue;
    const int64_t start = line * columns + first;
    MoveElements(x, *y, Nest<2>({last - first}, {Strides{1}, Strides{1}}),
                 start, start);
  }
  return OkStatus();
}

}  // namespace

Family MovementFamily() {
  return FamilyOf(Moved(Transpose), Moved(Concat), Moved(Split), Moved(Slice),
                  Moved(Expand), Moved(Tile), Moved(DepthToSpace),
                  Moved(SpaceToDepth), Moved(Trilu));
}

}  // namespace assay::reference

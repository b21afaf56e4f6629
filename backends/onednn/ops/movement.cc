// SPDX-License-Identifier: Apache-2.0
//
// Operators that convert, concatenate, permute or repeat elements: oneDNN's
// reorder between two sets of strides over the same extents, and its concat.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/primitive/reorder.h"

namespace assay::onednn {
namespace {

/// True when oneDNN's conversion, which rounds to nearest even and saturates,
/// is ONNX's Cast, which truncates and wraps.
bool ConvertsAlike(DType from, DType to) {
  if (IsFloatingPoint(to)) return true;
  const bool small =
      from == DType::kInt8 || from == DType::kUint8 || from == DType::kBool;
  return to == DType::kInt32 && small;
}

/// The same elements, of whatever type.
Status CopyBits(ChainBuilder& chain, Input input, Output output) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, input));
  const memory::desc flat = x.As({x.view.count});
  chain.Copy(chain.In(input, flat), chain.Out(output, x.view, flat));
  return OkStatus();
}

Fill Converting(Input input, Output output, DType to) {
  return Fill([=](ChainBuilder& chain) -> Status {
    const DType from = chain.dtype(input);
    if (from == to) return CopyBits(chain, input, output);
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(to, Shape()));
    if (DataType(from).has_value() && !ConvertsAlike(from, to)) {
      return Unsupported(Reason::kDType, from, " to ", to,
                         ", which oneDNN rounds and saturates");
    }
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(input));
    const TensorView converted = MakeView(to, y.type, x.shape);
    chain.Copy(chain.In(input, x.As({x.count})),
               chain.Out(output, converted, converted.As({x.count})));
    return OkStatus();
  });
}

Result<Fill> MakeCast(const op::Cast& op, LoadContext&) {
  const std::optional<DType> to = DTypeFromOnnx(static_cast<int>(op.to));
  if (!to.has_value()) {
    return InvalidArgument("to is ", op.to, ", which is no element type");
  }
  return Converting(op.input, op.output, *to);
}

Result<Fill> MakeCastLike(const op::CastLike& op, LoadContext& load) {
  return Converting(op.input, op.output, load.dtype(op.target_type));
}

/// Parts [rows, columns of its own], side by side in the output: as many at a
/// time as one concat takes.
void AddParts(ChainBuilder& chain, const std::vector<memory>& parts,
              Output result, const LaneView& y, const memory::dims& whole) {
  const auto width = static_cast<int64_t>(memory::data_type_size(y.view.type));
  const memory::dims strides = kernels::RowMajorStrides(whole);
  int64_t column = 0;
  for (size_t next = 0; next < parts.size();) {
    const int64_t first = column;
    std::vector<memory::desc> descs;
    std::vector<ChainBuilder::Argument> arguments;
    while (next < parts.size() && std::ssize(descs) < kMostSources) {
      const auto number = static_cast<int>(descs.size());
      arguments.push_back({DNNL_ARG_MULTIPLE_SRC + number, parts[next]});
      descs.push_back(parts[next++].get_desc());
      column += descs.back().get_dims()[1];
    }
    const memory::desc out =
        StridedDesc({whole[0], column - first}, y.view.type, strides);
    arguments.push_back(
        {DNNL_ARG_DST, chain.Out(result, y.view, out, first * width)});
    chain.Add<dnnl::concat>(
        {chain.engine(), out, 1, descs, ChainBuilder::attr()}, arguments);
  }
}

/// Axes before and behind the one of concatenation are one axis each.
Status AddConcat(const op::Concat& op, ChainBuilder& chain) {
  std::vector<memory> parts;
  Shape shape;
  size_t axis = 0;
  const auto fold = [&axis](const Shape& whole) {
    const memory::dims& dims = whole.dims();
    return memory::dims{kernels::Product(dims, 0, axis),
                        kernels::Product(dims, axis, dims.size())};
  };
  for (int i = 0; i < op.inputs.count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.inputs[i]));
    const Shape& own = x.view.shape;
    if (i == 0) {
      ASSAY_ASSIGN_OR_RETURN(const int at,
                             kernels::NormalizeAxis(op.axis, own.rank()));
      axis = static_cast<size_t>(at);
      shape = own;
    } else if (own.rank() != shape.rank()) {
      return InvalidArgument("ranks of the inputs differ");
    } else {
      shape[static_cast<int>(axis)] += own[static_cast<int>(axis)];
    }
    if (x.view.count == 0) continue;  // oneDNN refuses an empty part
    parts.push_back(chain.In(op.inputs[i], x.As(fold(own))));
  }
  ASSAY_ASSIGN_OR_RETURN(const LaneView y,
                         ViewLanes(chain, chain.dtype(op.inputs[0]), shape));
  if (parts.empty()) {
    return Unsupported(Reason::kShape, "no input has elements");
  }
  AddParts(chain, parts, op.concat_result, y, y.As(fold(shape)).get_dims());
  return OkStatus();
}

/// An input's elements in a view with its axes split and then permuted.
struct Permutation {
  memory::dims split;
  std::vector<size_t> perm;
  Shape result;
};

/// Appends y = x with its extents first split, then permuted.
Status Permute(ChainBuilder& chain, Input input, Output output,
               const Permutation& to) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, input));
  ASSAY_ASSIGN_OR_RETURN(const LaneView y,
                         ViewLanes(chain, x.view.dtype, to.result));
  const memory::dims strides = kernels::RowMajorStrides(to.split);
  Reorder reorder;
  for (const size_t axis : to.perm) {
    reorder.dims.push_back(to.split[axis]);
    reorder.from.strides.push_back(strides[axis]);
  }
  reorder.to.strides = kernels::RowMajorStrides(reorder.dims);
  AddReorder(chain, input, x, output, y, reorder);
  return OkStatus();
}

/// The shape of an image batch, which has four axes.
Result<Shape> ImageShape(ChainBuilder& chain, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, chain.ShapeOf(input));
  if (shape.rank() == 4) return shape;
  return InvalidArgument("input is ", shape.ToString(), ", wanted rank 4");
}

/// Above it a block's square could leave int64.
constexpr int64_t kMostBlock = int64_t{1} << 31;

Status CheckBlock(const std::string& mode, int64_t block, bool divides) {
  if ((mode != "DCR" && mode != "CRD") || block < 1 || !divides) {
    return InvalidArgument("mode is '", mode, "' and blocksize ", block,
                           ", wanted DCR or CRD and a divisor");
  }
  return OkStatus();
}

Status AddDepthToSpace(const op::DepthToSpace& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, ImageShape(chain, op.input));
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(
      CheckBlock(op.mode, b, b > 0 && b <= kMostBlock && x[1] % (b * b) == 0));
  const int64_t depth = x[1] / (b * b);
  const Shape result = {x[0], depth, x[2] * b, x[3] * b};
  if (op.mode == "DCR") {
    return Permute(
        chain, op.input, op.output,
        {{x[0], b, b, depth, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, result});
  }
  return Permute(chain, op.input, op.output,
                 {{x[0], depth, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, result});
}

Status AddSpaceToDepth(const op::SpaceToDepth& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, ImageShape(chain, op.input));
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(
      CheckBlock(op.mode, b, b > 0 && x[2] % b == 0 && x[3] % b == 0));
  const std::vector<size_t> perm = op.mode == "DCR"
                                       ? std::vector<size_t>{0, 3, 5, 1, 2, 4}
                                       : std::vector<size_t>{0, 1, 3, 5, 2, 4};
  return Permute(chain, op.input, op.output,
                 {{x[0], x[1], x[2] / b, b, x[3] / b, b},
                  perm,
                  {x[0], x[1] * b * b, x[2] / b, x[3] / b}});
}

Status AddTranspose(const op::Transpose& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, chain.ShapeOf(op.data));
  const auto rank = static_cast<size_t>(x.rank());
  std::vector<size_t> perm(op.perm.begin(), op.perm.end());
  if (op.perm.empty()) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<size_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != rank || sorted[i] != i) {
      return InvalidArgument("perm is ", Shape(op.perm).ToString(),
                             ", input is ", x.ToString());
    }
  }
  std::vector<int64_t> result;
  for (const size_t axis : perm) result.push_back(x.dims()[axis]);
  return Permute(chain, op.data, op.transposed,
                 {x.dims(), perm, Shape(result)});
}

/// A repeated axis is walked with stride 0.
Status AddExpand(const op::Expand& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.input));
  ASSAY_ASSIGN_OR_RETURN(const auto wanted, chain.Integers(op.shape, "shape"));
  ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
                         kernels::BroadcastShapes(x.view.shape, Shape(wanted)));
  ASSAY_ASSIGN_OR_RETURN(const LaneView y,
                         ViewLanes(chain, x.view.dtype, axes.shape));
  Reorder reorder{.dims = axes.out,
                  .from = {kernels::RowMajorStrides(axes.a)},
                  .to = {kernels::RowMajorStrides(axes.out)}};
  for (size_t i = 0; i < reorder.dims.size(); ++i) {
    if (axes.a[i] != axes.out[i]) reorder.from.strides[i] = 0;
  }
  AddReorder(chain, op.input, x, op.output, y, reorder);
  return OkStatus();
}

/// Each axis is a pair of the repetition, walked with stride 0, and itself.
Status AddTile(const op::Tile& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.input));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                         chain.Integers(op.repeats, "repeats"));
  const memory::dims& dims = x.view.shape.dims();
  if (repeats.size() != dims.size()) {
    return InvalidArgument("repeats has ", repeats.size(), " entries, wanted ",
                           dims.size());
  }
  const memory::dims strides = kernels::RowMajorStrides(dims);
  std::vector<int64_t> result;
  Reorder reorder;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t extent = 0;
    if (repeats[i] < 0 ||
        __builtin_mul_overflow(repeats[i], dims[i], &extent)) {
      return InvalidArgument("repeats has ", repeats[i], " for an extent of ",
                             dims[i]);
    }
    result.push_back(extent);
    reorder.dims.insert(reorder.dims.end(), {repeats[i], dims[i]});
    reorder.from.strides.insert(reorder.from.strides.end(), {0, strides[i]});
  }
  reorder.to.strides = kernels::RowMajorStrides(reorder.dims);
  ASSAY_ASSIGN_OR_RETURN(const LaneView y,
                         ViewLanes(chain, x.view.dtype, Shape(result)));
  AddReorder(chain, op.input, x, op.output, y, reorder);
  return OkStatus();
}

}  // namespace

FamilyPointer MakeMovement(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, MakeCast, MakeCastLike, AddConcat, AddDepthToSpace,
                  AddExpand, AddSpaceToDepth, AddTile, AddTranspose);
}

}  // namespace assay::onednn

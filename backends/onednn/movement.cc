// SPDX-License-Identifier: Apache-2.0
//
// Operators that move or convert elements: oneDNN's reorder between two sets
// of strides over the same extents, and its concat.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/onednn/families.h"

namespace assay::onednn {
namespace {

/// Which element of a tensor an index names: offset + sum index * stride.
struct Walk {
  memory::dims strides;
  int64_t offset = 0;  // elements
};

/// The copy to[index] = from[index] over `dims`.
struct Motion {
  memory::dims dims;
  Walk from, to;
};

/// Drops axes of one element and joins neighbours that are one in both walks.
Motion Joined(const Motion& motion) {
  Motion joined;
  joined.from.offset = motion.from.offset;
  joined.to.offset = motion.to.offset;
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

/// Appends one reorder. Element types are the views'.
void AddMotion(ChainBuilder& chain, Input input, const TensorView& x,
               Output output, const TensorView& y, const Motion& motion) {
  const Motion joined = Joined(motion);
  const auto bytes = [](const TensorView& view, int64_t elements) {
    return elements * BitsOf(view.dtype) / 8;
  };
  chain.Blame(Reason::kShape);
  chain.Copy(chain.In(input, {joined.dims, x.type, joined.from.strides},
                      bytes(x, joined.from.offset)),
             chain.Out(output, y, {joined.dims, y.type, joined.to.strides},
                       bytes(y, joined.to.offset)));
}

class MovementFamily : public Family {
 public:
  using Family::Family;
  Result<Kernel> Visit(const op::Cast& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::CastLike& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Concat& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::DepthToSpace& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Expand& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Slice& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::SpaceToDepth& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Split& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Tile& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Transpose& op, LoadContext& load) override;

 private:
  Result<Kernel> Convert(LoadContext& load, Input input, Output output,
                         DType to) const;
  /// y = x with its extents first split into `split`, then in order `perm`.
  Result<Kernel> Permute(LoadContext& load, Input input, Output output,
                         const memory::dims& split,
                         const std::vector<size_t>& perm,
                         const Shape& result) const;
};

/// Whether oneDNN's conversion, which rounds to nearest even and saturates,
/// is ONNX's Cast, which truncates and wraps.
bool ConvertsAlike(DType from, DType to) {
  if (from == to) return true;
  if (IsFloatingPoint(to)) return true;
  const bool small =
      from == DType::kInt8 || from == DType::kUint8 || from == DType::kBool;
  return to == DType::kInt32 && small;
}

Result<Kernel> MovementFamily::Convert(LoadContext& load, Input input,
                                       Output output, DType to) const {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(input));
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(to, x.shape));
    if (!ConvertsAlike(x.dtype, to)) {
      return Unsupported(Reason::kDType, x.dtype, " to ", to,
                         ", which oneDNN rounds and saturates");
    }
    chain.Copy(chain.In(input, x.As({x.count})),
               chain.Out(output, y, y.As({y.count})));
    return OkStatus();
  });
}

Result<Kernel> MovementFamily::Visit(const op::Cast& op, LoadContext& load) {
  const std::optional<DType> to = DTypeFromOnnx(static_cast<int>(op.to));
  if (!to.has_value()) {
    return InvalidArgument("to is ", op.to, ", which is no element type");
  }
  return Convert(load, op.input, op.output, *to);
}

Result<Kernel> MovementFamily::Visit(const op::CastLike& op,
                                     LoadContext& load) {
  return Convert(load, op.input, op.output, load.dtype(op.target_type));
}

/// Axes before and behind the one of concatenation are one axis each.
Result<Kernel> MovementFamily::Visit(const op::Concat& op, LoadContext& load) {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    std::vector<memory::desc> descs;
    std::vector<ChainBuilder::Argument> arguments;
    Shape shape;
    TensorView first;
    size_t axis = 0;
    for (int i = 0; i < op.inputs.count; ++i) {
      ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.inputs[i]));
      if (i == 0) {
        ASSAY_ASSIGN_OR_RETURN(const int at,
                               NormalizeAxis(op.axis, x.shape.rank()));
        axis = static_cast<size_t>(at);
        first = x;
        shape = x.shape;
      } else if (x.shape.rank() != shape.rank()) {
        return InvalidArgument("ranks of the inputs differ");
      } else {
        shape[static_cast<int>(axis)] += x.shape[static_cast<int>(axis)];
      }
      const memory::dims& dims = x.shape.dims();
      if (x.count == 0) continue;  // oneDNN refuses a part without elements
      descs.push_back(
          x.As({Product(dims, 0, axis), Product(dims, axis, dims.size())}));
      const auto number = static_cast<int>(arguments.size());
      arguments.push_back({DNNL_ARG_MULTIPLE_SRC + number,
                           chain.In(op.inputs[i], descs.back())});
    }
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(first.dtype, shape));
    if (descs.empty()) {
      return Unsupported(Reason::kShape, "no input has elements");
    }
    const memory::dims& dims = y.shape.dims();
    const memory::desc out =
        y.As({Product(dims, 0, axis), Product(dims, axis, dims.size())});
    arguments.push_back({DNNL_ARG_DST, chain.Out(op.concat_result, y, out)});
    chain.Add<dnnl::concat>(
        {chain.engine(), out, 1, descs, ChainBuilder::attr()}, arguments);
    return OkStatus();
  });
}

Result<Kernel> MovementFamily::Permute(LoadContext& load, Input input,
                                       Output output, const memory::dims& split,
                                       const std::vector<size_t>& perm,
                                       const Shape& result) const {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(input));
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, result));
    const memory::dims strides = RowMajorStrides(split);
    Motion motion;
    for (const size_t axis : perm) {
      motion.dims.push_back(split[axis]);
      motion.from.strides.push_back(strides[axis]);
    }
    motion.to.strides = RowMajorStrides(motion.dims);
    AddMotion(chain, input, x, output, y, motion);
    return OkStatus();
  });
}

/// The static shape of an input, which must have `rank` axes unless it is < 0.
Result<Shape> StaticShape(LoadContext& load, Input input, int rank) {
  const ValueType& type = load.type(input);
  const std::optional<Shape> shape = type.StaticShape();
  if (!shape.has_value()) {
    return Unsupported(Reason::kShape, "input is ", type.ToString(),
                       ", wanted known extents");
  }
  if (rank >= 0 && shape->rank() != rank) {
    return InvalidArgument("input is ", type.ToString(), ", wanted rank ",
                           rank);
  }
  return *shape;
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

Result<Kernel> MovementFamily::Visit(const op::DepthToSpace& op,
                                     LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, StaticShape(load, op.input, 4));
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(
      CheckBlock(op.mode, b, b > 0 && b <= kMostBlock && x[1] % (b * b) == 0));
  const int64_t depth = x[1] / (b * b);
  const Shape result = {x[0], depth, x[2] * b, x[3] * b};
  if (op.mode == "DCR") {
    return Permute(load, op.input, op.output, {x[0], b, b, depth, x[2], x[3]},
                   {0, 3, 4, 1, 5, 2}, result);
  }
  return Permute(load, op.input, op.output, {x[0], depth, b, b, x[2], x[3]},
                 {0, 1, 4, 2, 5, 3}, result);
}

Result<Kernel> MovementFamily::Visit(const op::SpaceToDepth& op,
                                     LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, StaticShape(load, op.input, 4));
  const int64_t b = op.blocksize;
  ASSAY_RETURN_IF_ERROR(
      CheckBlock(op.mode, b, b > 0 && x[2] % b == 0 && x[3] % b == 0));
  const Shape result = {x[0], x[1] * b * b, x[2] / b, x[3] / b};
  const memory::dims split = {x[0], x[1], x[2] / b, b, x[3] / b, b};
  return op.mode == "DCR" ? Permute(load, op.input, op.output, split,
                                    {0, 3, 5, 1, 2, 4}, result)
                          : Permute(load, op.input, op.output, split,
                                    {0, 1, 3, 5, 2, 4}, result);
}

Result<Kernel> MovementFamily::Visit(const op::Transpose& op,
                                     LoadContext& load) {
  ASSAY_ASSIGN_OR_RETURN(const Shape x, StaticShape(load, op.data, -1));
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
  return Permute(load, op.data, op.transposed, x.dims(), perm,
                 Shape(std::move(result)));
}

/// A repeated axis is walked with stride 0.
Result<Kernel> MovementFamily::Visit(const op::Expand& op, LoadContext& load) {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.input));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> wanted,
                           chain.Integers(op.shape, "shape"));
    ASSAY_ASSIGN_OR_RETURN(const Broadcast axes,
                           BroadcastShapes(x.shape, Shape(wanted)));
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, axes.shape));
    Motion motion{.dims = axes.out,
                  .from = {RowMajorStrides(axes.a)},
                  .to = {RowMajorStrides(axes.out)}};
    for (size_t i = 0; i < motion.dims.size(); ++i) {
      if (axes.a[i] != axes.out[i]) motion.from.strides[i] = 0;
    }
    AddMotion(chain, op.input, x, op.output, y, motion);
    return OkStatus();
  });
}

/// Each axis is a pair of the repetition, walked with stride 0, and itself.
Result<Kernel> MovementFamily::Visit(const op::Tile& op, LoadContext& load) {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.input));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> repeats,
                           chain.Integers(op.repeats, "repeats"));
    const memory::dims& dims = x.shape.dims();
    if (repeats.size() != dims.size()) {
      return InvalidArgument("repeats has ", repeats.size(),
                             " entries, wanted ", dims.size());
    }
    const memory::dims strides = RowMajorStrides(dims);
    std::vector<int64_t> result;
    Motion motion;
    for (size_t i = 0; i < dims.size(); ++i) {
      int64_t extent = 0;
      if (repeats[i] < 0 ||
          __builtin_mul_overflow(repeats[i], dims[i], &extent)) {
        return InvalidArgument("repeats has ", repeats[i], " for an extent of ",
                               dims[i]);
      }
      result.push_back(extent);
      motion.dims.insert(motion.dims.end(), {repeats[i], dims[i]});
      motion.from.strides.insert(motion.from.strides.end(), {0, strides[i]});
    }
    motion.to.strides = RowMajorStrides(motion.dims);
    ASSAY_ASSIGN_OR_RETURN(const TensorView y,
                           chain.View(x.dtype, Shape(std::move(result))));
    AddMotion(chain, op.input, x, op.output, y, motion);
    return OkStatus();
  });
}

/// The part of an axis that a Slice keeps.
struct Range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// Starts and ends count from the end when negative and are clamped.
Result<Range> ResolveRange(int64_t start, int64_t end, int64_t step,
                           int64_t extent) {
  if (step == 0) return InvalidArgument("a step is 0");
  if (step < 0) {
    return Unsupported(Reason::kAttribute, "a step is ", step,
                       ", oneDNN walks forward");
  }
  const auto clamp = [extent](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  const int64_t first = clamp(start);
  const int64_t room = clamp(end) - first;
  return Range{first, step, room <= 0 ? 0 : (room - 1) / step + 1};
}

Result<Kernel> MovementFamily::Visit(const op::Slice& op, LoadContext& load) {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.data));
    ASSAY_ASSIGN_OR_RETURN(const auto starts,
                           chain.Integers(op.starts, "starts"));
    ASSAY_ASSIGN_OR_RETURN(const auto ends, chain.Integers(op.ends, "ends"));
    std::vector<int64_t> axes(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::vector<int64_t> steps(starts.size(), 1);
    if (op.axes.present) {
      ASSAY_ASSIGN_OR_RETURN(axes, chain.Integers(op.axes, "axes"));
    }
    if (op.steps.present) {
      ASSAY_ASSIGN_OR_RETURN(steps, chain.Integers(op.steps, "steps"));
    }
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size()) {
      return InvalidArgument("starts, ends, axes and steps differ in length");
    }
    Motion motion{.dims = x.shape.dims(),
                  .from = {RowMajorStrides(x.shape.dims())}};
    for (size_t i = 0; i < starts.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const int axis,
                             NormalizeAxis(axes[i], x.shape.rank()));
      const auto at = static_cast<size_t>(axis);
      ASSAY_ASSIGN_OR_RETURN(
          const Range range,
          ResolveRange(starts[i], ends[i], steps[i], x.shape[axis]));
      motion.dims[at] = range.count;
      motion.from.offset += range.start * motion.from.strides[at];
      if (range.count > 1) motion.from.strides[at] *= range.step;
    }
    motion.to.strides = RowMajorStrides(motion.dims);
    ASSAY_ASSIGN_OR_RETURN(const TensorView y,
                           chain.View(x.dtype, Shape(motion.dims)));
    AddMotion(chain, op.data, x, op.output, y, motion);
    return OkStatus();
  });
}

/// The extents of the parts: as given, or equal with a smaller last one.
Result<std::vector<int64_t>> PartExtents(ChainBuilder& chain,
                                         const op::Split& op, int64_t extent) {
  if (op.split.present) return chain.Integers(op.split, "split");
  const int64_t count = op.num_outputs.value_or(op.outputs.count);
  if (count != op.outputs.count || count < 1) {
    return InvalidArgument("num_outputs is ", count, " over ", op.outputs.count,
                           " outputs");
  }
  const int64_t part = (extent + count - 1) / count;
  std::vector<int64_t> parts(static_cast<size_t>(count), part);
  parts.back() = extent - part * (count - 1);
  return parts;
}

Result<Kernel> MovementFamily::Visit(const op::Split& op, LoadContext& load) {
  return Build(load, [&](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.input));
    ASSAY_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(op.axis, x.shape.rank()));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> parts,
                           PartExtents(chain, op, x.shape[axis]));
    int64_t rest = x.shape[axis];
    for (const int64_t part : parts) {
      rest = part < 0 || part > rest ? -1 : rest - part;
      if (rest < 0) break;
    }
    if (std::ssize(parts) != op.outputs.count || rest != 0) {
      return InvalidArgument("split is ", Shape(parts).ToString(), " over ",
                             op.outputs.count, " outputs and extent ",
                             x.shape[axis]);
    }
    const memory::dims strides = RowMajorStrides(x.shape.dims());
    int64_t start = 0;
    for (int i = 0; i < op.outputs.count; ++i) {
      Motion motion{.dims = x.shape.dims(), .from = {strides}};
      const auto at = static_cast<size_t>(axis);
      motion.dims[at] = parts[static_cast<size_t>(i)];
      motion.from.offset = start * strides[at];
      motion.to.strides = RowMajorStrides(motion.dims);
      ASSAY_ASSIGN_OR_RETURN(const TensorView y,
                             chain.View(x.dtype, Shape(motion.dims)));
      AddMotion(chain, op.input, x, op.outputs[i], y, motion);
      start += motion.dims[at];
    }
    return OkStatus();
  });
}

}  // namespace

FamilyPointer MakeMovement(std::shared_ptr<const Device> device) {
  return std::make_unique<MovementFamily>(std::move(device));
}

}  // namespace assay::onednn

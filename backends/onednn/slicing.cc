// SPDX-License-Identifier: Apache-2.0
//
// Slice, Split and Pad: reorders of parts of a tensor. An axis that is walked
// backwards is one reorder an element of it.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/onednn/families.h"
#include "backends/onednn/motion.h"

namespace assay::onednn {
namespace {

class SlicingFamily : public Family {
 public:
  using Family::Family;
  Result<Kernel> Visit(const op::Pad& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Slice& op, LoadContext& load) override;
  Result<Kernel> Visit(const op::Split& op, LoadContext& load) override;
};

/// Every entry of every axis, as it is.
std::vector<std::vector<Piece>> WholeAxes(const Shape& shape) {
  std::vector<std::vector<Piece>> axes;
  for (const int64_t extent : shape) axes.push_back({{.count = extent}});
  return axes;
}

/// What a Slice keeps of an axis.
struct Range {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

/// ONNX's Slice: starts and ends count from the end when negative, and are
/// clamped to [0, extent], or to [0, extent - 1] and [-1, extent - 1] when
/// walking backwards.
Result<Range> ResolveRange(int64_t start, int64_t end, int64_t step,
                           int64_t extent) {
  if (step == 0) return InvalidArgument("a step is 0");
  const bool back = step < 0;
  const auto clamp = [extent](int64_t at, int64_t least, int64_t most) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, least, most);
  };
  if (extent == 0) return Range{0, 1, 0};
  const int64_t first = clamp(start, 0, back ? extent - 1 : extent);
  const int64_t last = clamp(end, back ? -1 : 0, back ? extent - 1 : extent);
  const int64_t room = back ? first - last : last - first;
  if (room <= 0) return Range{0, 1, 0};
  // At most `extent` entries: a wider step is as good, and cannot overflow.
  const int64_t wide = std::clamp(step, -extent, extent);
  return Range{first, wide, (room - 1) / std::abs(wide) + 1};
}

std::vector<Piece> PiecesOfRange(const Range& range) {
  if (range.step > 0) {
    return {{.from = range.start, .step = range.step, .count = range.count}};
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < range.count; ++i) {
    places.push_back(range.start + i * range.step);
  }
  return PiecesOf(places);
}

/// One range for each listed axis.
struct Slices {
  std::vector<int64_t> starts, ends, axes, steps;
};

Result<Slices> ReadSlices(ChainBuilder& chain, const op::Slice& op) {
  Slices read;
  ASSAY_ASSIGN_OR_RETURN(read.starts, chain.Integers(op.starts, "starts"));
  ASSAY_ASSIGN_OR_RETURN(read.ends, chain.Integers(op.ends, "ends"));
  const size_t count = read.starts.size();
  read.axes.resize(count);
  std::iota(read.axes.begin(), read.axes.end(), 0);
  read.steps.resize(count, 1);
  if (op.axes.present) {
    ASSAY_ASSIGN_OR_RETURN(read.axes, chain.Integers(op.axes, "axes"));
  }
  if (op.steps.present) {
    ASSAY_ASSIGN_OR_RETURN(read.steps, chain.Integers(op.steps, "steps"));
  }
  if (read.ends.size() != count || read.axes.size() != count ||
      read.steps.size() != count) {
    return InvalidArgument("starts, ends, axes and steps differ in length");
  }
  return read;
}

Result<Kernel> SlicingFamily::Visit(const op::Slice& op, LoadContext& load) {
  return Build(load, [=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const Carried x, Carry(chain, op.data));
    ASSAY_ASSIGN_OR_RETURN(const Slices slices, ReadSlices(chain, op));
    auto axes = WholeAxes(x.view.shape);
    Shape shape = x.view.shape;
    for (size_t i = 0; i < slices.starts.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          const int axis, NormalizeAxis(slices.axes[i], x.view.shape.rank()));
      ASSAY_ASSIGN_OR_RETURN(const Range range,
                             ResolveRange(slices.starts[i], slices.ends[i],
                                          slices.steps[i], x.view.shape[axis]));
      axes[static_cast<size_t>(axis)] = PiecesOfRange(range);
      shape[axis] = range.count;
    }
    ASSAY_ASSIGN_OR_RETURN(const Carried y, Carry(chain, x.view.dtype, shape));
    return AddPieces(chain, op.data, x, op.output, y, axes);
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

Status CheckParts(const std::vector<int64_t>& parts, int outputs,
                  int64_t extent) {
  int64_t rest = extent;
  for (const int64_t part : parts) {
    rest = part < 0 || part > rest ? -1 : rest - part;
    if (rest < 0) break;
  }
  if (std::ssize(parts) == outputs && rest == 0) return OkStatus();
  return InvalidArgument("split is ", Shape(parts).ToString(), " over ",
                         outputs, " outputs and extent ", extent);
}

Result<Kernel> SlicingFamily::Visit(const op::Split& op, LoadContext& load) {
  return Build(load, [=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const Carried x, Carry(chain, op.input));
    ASSAY_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(op.axis, x.view.shape.rank()));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> parts,
                           PartExtents(chain, op, x.view.shape[axis]));
    ASSAY_RETURN_IF_ERROR(
        CheckParts(parts, op.outputs.count, x.view.shape[axis]));
    int64_t start = 0;
    for (int i = 0; i < op.outputs.count; ++i) {
      const int64_t extent = parts[static_cast<size_t>(i)];
      auto axes = WholeAxes(x.view.shape);
      axes[static_cast<size_t>(axis)] = {{.from = start, .count = extent}};
      Shape shape = x.view.shape;
      shape[axis] = extent;
      ASSAY_ASSIGN_OR_RETURN(const Carried y,
                             Carry(chain, x.view.dtype, shape));
      ASSAY_RETURN_IF_ERROR(
          AddPieces(chain, op.input, x, op.outputs[i], y, axes));
      start += extent;
    }
    return OkStatus();
  });
}

/// Where place `at` of a padded axis comes from, counted in the axis before;
/// negative for a constant. ONNX's modes are numpy.pad's.
int64_t PaddedPlace(const std::string& mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  if (mode == "constant") return -1;
  if (mode == "edge") return std::clamp<int64_t>(at, 0, extent - 1);
  const int64_t period = mode == "wrap" ? extent : 2 * (extent - 1);
  if (period == 0) return 0;
  const int64_t within = ((at % period) + period) % period;
  return within < extent ? within : period - within;
}

/// Pads of every axis: begin and end.
using Pads = std::vector<std::pair<int64_t, int64_t>>;

Result<Pads> ReadPads(ChainBuilder& chain, const op::Pad& op, int rank) {
  ASSAY_ASSIGN_OR_RETURN(const auto given, chain.Integers(op.pads, "pads"));
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (op.axes.present) {
    ASSAY_ASSIGN_OR_RETURN(axes, chain.Integers(op.axes, "axes"));
  }
  if (given.size() != 2 * axes.size()) {
    return InvalidArgument("pads has ", given.size(), " entries, wanted ",
                           2 * axes.size());
  }
  constexpr int64_t kMost = int64_t{1} << 40;
  Pads pads(static_cast<size_t>(rank));
  for (size_t i = 0; i < axes.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(axes[i], rank));
    const int64_t begin = given[i];
    const int64_t end = given[i + axes.size()];
    if (std::abs(begin) > kMost || std::abs(end) > kMost) {
      return InvalidArgument("pads are ", begin, " and ", end,
                             ", wanted at most ", kMost);
    }
    pads[static_cast<size_t>(axis)] = {begin, end};
  }
  return pads;
}

/// The value of the padding, repeated over the output, which the copies then
/// overwrite.
Status AddFilling(ChainBuilder& chain, const op::Pad& op, const Carried& y) {
  memory value;
  const memory::desc all({y.view.count, y.lanes}, y.view.type,
                         memory::dims{0, 1});
  if (op.constant_value.present) {
    ASSAY_ASSIGN_OR_RETURN(const Shape shape, chain.ShapeOf(op.constant_value));
    if (Product(shape.dims(), 0, shape.dims().size()) != 1 ||
        chain.dtype(op.constant_value) != y.view.dtype) {
      return InvalidArgument("constant_value is ",
                             chain.dtype(op.constant_value), shape.ToString(),
                             ", wanted one ", y.view.dtype);
    }
    value = chain.In(op.constant_value, all);
  } else {
    value = chain.Zeros(all);
  }
  chain.Copy(value, chain.Out(op.output, y.view,
                              {{y.view.count, y.lanes},
                               y.view.type,
                               memory::dims{y.lanes, 1}}));
  return OkStatus();
}

Result<Kernel> SlicingFamily::Visit(const op::Pad& op, LoadContext& load) {
  if (op.mode != "constant" && op.mode != "edge" && op.mode != "reflect" &&
      op.mode != "wrap") {
    return InvalidArgument("mode is '", op.mode,
                           "', wanted constant, edge, reflect or wrap");
  }
  return Build(load, [=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const Carried x, Carry(chain, op.data));
    Shape shape = x.view.shape;
    ASSAY_ASSIGN_OR_RETURN(const Pads pads, ReadPads(chain, op, shape.rank()));
    bool padded = false;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto& [begin, end] = pads[static_cast<size_t>(i)];
      padded = padded || begin > 0 || end > 0;
      shape[i] += begin + end;
    }
    ASSAY_ASSIGN_OR_RETURN(const Carried y, Carry(chain, x.view.dtype, shape));
    if (op.mode == "constant" && padded) {
      ASSAY_RETURN_IF_ERROR(AddFilling(chain, op, y));
    }
    if (x.view.count == 0 && op.mode == "constant") return OkStatus();
    if (x.view.count == 0) {
      return Unsupported(Reason::kShape, "there are no elements to repeat");
    }
    std::vector<std::vector<Piece>> axes;
    for (int i = 0; i < shape.rank(); ++i) {
      const int64_t begin = pads[static_cast<size_t>(i)].first;
      std::vector<int64_t> places;
      for (int64_t at = 0; at < shape[i]; ++at) {
        places.push_back(PaddedPlace(op.mode, at - begin, x.view.shape[i]));
      }
      axes.push_back(PiecesOf(places));
    }
    return AddPieces(chain, op.data, x, op.output, y, axes);
  });
}

}  // namespace

FamilyPointer MakeSlicing(std::shared_ptr<const Device> device) {
  return std::make_unique<SlicingFamily>(std::move(device));
}

}  // namespace assay::onednn

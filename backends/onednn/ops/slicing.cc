// SPDX-License-Identifier: Apache-2.0
//
// Slice, Split and Pad: reorders of parts of a tensor. An axis that is walked
// backwards is one reorder an element of it.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/primitive/reorder.h"

namespace assay::onednn {
namespace {

using kernels::AxisRun;

/// The elements of an input such as axes where the node has it.
Result<std::optional<std::vector<int64_t>>> OptionalIntegers(
    ChainBuilder& chain, Input input, std::string_view what) {
  std::optional<std::vector<int64_t>> read;
  if (input.present) {
    ASSAY_ASSIGN_OR_RETURN(read, chain.Integers(input, what));
  }
  return read;
}

/// One list for each axis, of a run.
std::vector<std::vector<AxisRun>> Single(const std::vector<AxisRun>& runs) {
  std::vector<std::vector<AxisRun>> axes;
  for (const AxisRun& run : runs) axes.push_back({run});
  return axes;
}

Status AddSlice(const op::Slice& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.data));
  kernels::SliceInputs given;
  ASSAY_ASSIGN_OR_RETURN(given.starts, chain.Integers(op.starts, "starts"));
  ASSAY_ASSIGN_OR_RETURN(given.ends, chain.Integers(op.ends, "ends"));
  ASSAY_ASSIGN_OR_RETURN(given.axes, OptionalIntegers(chain, op.axes, "axes"));
  ASSAY_ASSIGN_OR_RETURN(given.steps,
                         OptionalIntegers(chain, op.steps, "steps"));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<AxisRun> runs,
                         kernels::SliceRuns(given, x.view.shape));
  Shape shape = x.view.shape;
  for (int i = 0; i < shape.rank(); ++i) {
    shape[i] = runs[static_cast<size_t>(i)].count;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto y, ViewLanes(chain, x.view.dtype, shape));
  return AddRuns(chain, op.data, x, op.output, y, Single(runs));
}

Status AddSplit(const op::Split& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.input));
  const Shape& whole = x.view.shape;
  ASSAY_ASSIGN_OR_RETURN(const int axis,
                         kernels::NormalizeAxis(op.axis, whole.rank()));
  ASSAY_ASSIGN_OR_RETURN(const auto given,
                         OptionalIntegers(chain, op.split, "split"));
  if (!given.has_value() &&
      op.num_outputs.value_or(op.outputs.count) != op.outputs.count) {
    return InvalidArgument("num_outputs is ", *op.num_outputs, " over ",
                           op.outputs.count, " outputs");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<int64_t> parts,
      kernels::SplitExtents(given, op.outputs.count, whole[axis]));
  int64_t start = 0;
  for (int i = 0; i < op.outputs.count; ++i) {
    Shape shape = whole;
    shape[axis] = parts[static_cast<size_t>(i)];
    std::vector<AxisRun> runs;
    for (const int64_t extent : shape) runs.push_back({.count = extent});
    runs[static_cast<size_t>(axis)].from = start;
    start += shape[axis];
    ASSAY_ASSIGN_OR_RETURN(const auto y, ViewLanes(chain, x.view.dtype, shape));
    ASSAY_RETURN_IF_ERROR(
        AddRuns(chain, op.input, x, op.outputs[i], y, Single(runs)));
  }
  return OkStatus();
}

using Pads = std::vector<std::pair<int64_t, int64_t>>;  // begin and end

/// Zeros over the whole output, which the copies then overwrite.
void AddZeros(ChainBuilder& chain, const op::Pad& op, const LaneView& y) {
  const memory::dims elements = {y.view.count, y.lanes};
  chain.Copy(chain.Zeros(StridedDesc(elements, y.view.type, {0, 1})),
             chain.Out(op.output, y.view,
                       StridedDesc(elements, y.view.type, {y.lanes, 1})));
}

/// The value of the padding, repeated over what the copies leave: for each axis
/// its two margins, within the inner part of the axes before.
Status AddFilling(ChainBuilder& chain, const op::Pad& op, const LaneView& y,
                  const Pads& pads) {
  if (!op.constant_value.present) {
    AddZeros(chain, op, y);
    return OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto value, ViewLanes(chain, op.constant_value));
  if (value.view.count != 1 || value.view.dtype != y.view.dtype) {
    return InvalidArgument("constant_value is ", value.view.dtype,
                           value.view.shape.ToString(), ", wanted one ",
                           y.view.dtype);
  }
  const memory::dims strides = kernels::RowMajorStrides(y.view.shape.dims());
  Reorder inner = {.dims = y.view.shape.dims(),
                   .from = {memory::dims(strides.size(), 0)},
                   .to = {strides}};
  for (size_t i = 0; i < pads.size(); ++i) {
    const int64_t extent = inner.dims[i];
    const int64_t begin = std::clamp<int64_t>(pads[i].first, 0, extent);
    const int64_t end = std::clamp<int64_t>(pads[i].second, 0, extent - begin);
    Reorder margin = inner;
    for (const auto& [from, count] : {std::pair<int64_t, int64_t>(0, begin),
                                      std::pair(extent - end, end)}) {
      margin.dims[i] = count;
      margin.to.offset = inner.to.offset + from * strides[i];
      if (kernels::Product(margin.dims, 0, margin.dims.size()) == 0) continue;
      AddReorder(chain, op.constant_value, value, op.output, y, margin);
    }
    inner.dims[i] = extent - begin - end;
    inner.to.offset += begin * strides[i];
  }
  return OkStatus();
}

Result<Fill> MakePad(const op::Pad& op, LoadContext&) {
  ASSAY_RETURN_IF_ERROR(kernels::PadRuns(op.mode, 0, 0, 1, 1).status());
  return Fill([=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const LaneView x, ViewLanes(chain, op.data));
    Shape shape = x.view.shape;
    ASSAY_ASSIGN_OR_RETURN(const auto given, chain.Integers(op.pads, "pads"));
    ASSAY_ASSIGN_OR_RETURN(const auto listed,
                           OptionalIntegers(chain, op.axes, "axes"));
    ASSAY_ASSIGN_OR_RETURN(const Pads pads,
                           kernels::ReadPads(given, listed, shape.rank()));
    bool padded = false;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto& [begin, end] = pads[static_cast<size_t>(i)];
      padded = padded || begin > 0 || end > 0;
      shape[i] += begin + end;
    }
    ASSAY_ASSIGN_OR_RETURN(const auto y, ViewLanes(chain, x.view.dtype, shape));
    if (x.view.count == 0 && op.mode != "constant") {
      return Unsupported(Reason::kShape, "there are no elements to repeat");
    }
    if (y.view.count == 0) {
      chain.Out(op.output, y.view, y.As({0}));
      return OkStatus();
    }
    if (op.mode == "constant" && padded) {
      ASSAY_RETURN_IF_ERROR(AddFilling(chain, op, y, pads));
    }
    if (x.view.count == 0) return OkStatus();
    std::vector<std::vector<AxisRun>> axes;
    for (int i = 0; i < shape.rank(); ++i) {
      const auto& [begin, end] = pads[static_cast<size_t>(i)];
      ASSAY_ASSIGN_OR_RETURN(
          axes.emplace_back(),
          kernels::PadRuns(op.mode, begin, end, x.view.shape[i],
                           static_cast<size_t>(kMostReorders)));
    }
    return AddRuns(chain, op.data, x, op.output, y, axes);
  });
}

}  // namespace

FamilyPointer MakeSlicing(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, MakePad, AddSlice, AddSplit);
}

}  // namespace assay::onednn

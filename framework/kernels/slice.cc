// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/slice.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "framework/kernels/axis.h"
#include "framework/kernels/window.h"

namespace assay::inline v1::kernels {

Result<AxisRun> SliceRun(int64_t start, int64_t end, int64_t step,
                         int64_t extent) {
  if (step == 0) return InvalidArgument("a step is 0");
  const bool back = step < 0;
  const auto clamp = [extent](int64_t at, int64_t least, int64_t most) {
    return std::clamp<int64_t>(at < 0 ? at + extent : at, least, most);
  };
  if (extent == 0) return AxisRun{};
  const int64_t first = clamp(start, 0, back ? extent - 1 : extent);
  const int64_t last = clamp(end, back ? -1 : 0, back ? extent - 1 : extent);
  const int64_t room = back ? first - last : last - first;
  if (room <= 0) return AxisRun{};
  // At most `extent` entries: a wider step is as good, and cannot overflow.
  const int64_t wide = std::clamp(step, -extent, extent);
  return AxisRun{0, first, wide, (room - 1) / std::abs(wide) + 1};
}

Result<std::vector<AxisRun>> SliceRuns(const SliceInputs& inputs,
                                       const Shape& shape) {
  const size_t count = inputs.starts.size();
  std::vector<int64_t> first(count);
  std::iota(first.begin(), first.end(), 0);
  const std::vector<int64_t> axes = inputs.axes.value_or(first);
  const std::vector<int64_t> steps =
      inputs.steps.value_or(std::vector<int64_t>(count, 1));
  if (inputs.ends.size() != count || axes.size() != count ||
      steps.size() != count) {
    return InvalidArgument("starts, ends, axes and steps differ in length");
  }
  std::vector<AxisRun> runs;
  for (const int64_t extent : shape) runs.push_back({.count = extent});
  for (size_t i = 0; i < count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(axes[i], shape.rank()));
    ASSAY_ASSIGN_OR_RETURN(
        runs[static_cast<size_t>(axis)],
        SliceRun(inputs.starts[i], inputs.ends[i], steps[i], shape[axis]));
  }
  return runs;
}

Result<std::vector<int64_t>> SplitExtents(
    const std::optional<std::vector<int64_t>>& given, int64_t outputs,
    int64_t extent) {
  if (outputs < 1) return InvalidArgument("a split has ", outputs, " outputs");
  std::vector<int64_t> parts;
  if (given.has_value()) {
    parts = *given;
  } else {
    const int64_t part = (extent + outputs - 1) / outputs;
    parts.assign(static_cast<size_t>(outputs), part);
    parts.back() = extent - part * (outputs - 1);
  }
  int64_t rest = extent;
  for (const int64_t part : parts) {
    rest = part < 0 || part > rest ? -1 : rest - part;
    if (rest < 0) break;
  }
  if (std::ssize(parts) == outputs && rest == 0) return parts;
  return InvalidArgument("split is ", Shape(parts).ToString(), " over ",
                         outputs, " outputs and extent ", extent);
}

Result<std::vector<std::pair<int64_t, int64_t>>> ReadPads(
    std::span<const int64_t> pads,
    const std::optional<std::vector<int64_t>>& axes, int rank) {
  std::vector<int64_t> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<int64_t> listed = axes.value_or(all);
  if (pads.size() != 2 * listed.size()) {
    return InvalidArgument("pads has ", pads.size(), " entries, wanted ",
                           2 * listed.size());
  }
  constexpr int64_t kMost = int64_t{1} << 40;
  std::vector<std::pair<int64_t, int64_t>> read(all.size());
  for (size_t i = 0; i < listed.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(listed[i], rank));
    const int64_t begin = pads[i];
    const int64_t end = pads[i + listed.size()];
    if (std::min(begin, end) < -kMost || std::max(begin, end) > kMost) {
      return InvalidArgument("pads are ", begin, " and ", end,
                             ", wanted at most ", kMost);
    }
    read[static_cast<size_t>(axis)] = {begin, end};
  }
  return read;
}

namespace {

/// Places count from the first element of the input, so that padding is below 0
/// and from `extent` on. The run that begins at a place; its count ends where
/// the rule changes. A step of 0 repeats, `fills` says that nothing is copied.
struct Segment {
  int64_t from = 0;
  int64_t step = 1;
  int64_t end = 0;  // the place behind it
  bool fills = false;
};

Segment SegmentAt(std::string_view mode, int64_t place, int64_t extent,
                  int64_t stop) {
  const bool fills = mode == "constant";
  if (extent == 1 && !fills) return {0, 0, stop};
  if (place >= 0 && place < extent) return {place, 1, extent};
  if (fills) return {0, 0, place < 0 ? 0 : stop, true};
  if (mode == "edge") {
    return place < 0 ? Segment{0, 0, 1} : Segment{extent - 1, 0, stop};
  }
  const bool wraps = mode == "wrap";
  const int64_t period = wraps ? extent : 2 * (extent - 1);
  const int64_t within = (place % period + period) % period;
  if (within < extent) return {within, 1, place + extent - within};
  return {period - within, -1, place + period - within};
}

}  // namespace

Result<std::vector<AxisRun>> PadRuns(std::string_view mode, int64_t begin,
                                     int64_t end, int64_t extent, size_t most) {
  if (mode != "constant" && mode != "edge" && mode != "reflect" &&
      mode != "wrap") {
    return InvalidArgument("mode is '", mode,
                           "', wanted constant, edge, reflect or wrap");
  }
  const int64_t stop = extent + end;
  if (stop < -begin) {
    return InvalidArgument("pads of ", begin, " and ", end, " leave ",
                           stop + begin, " of ", extent, " elements");
  }
  if (extent == 0 && mode != "constant" && stop > -begin) {
    return InvalidArgument("there are no elements to repeat");
  }
  std::vector<AxisRun> runs;
  int64_t place = -begin;
  while (place < stop) {
    const Segment segment = SegmentAt(mode, place, extent, stop);
    const int64_t until = std::min(segment.end, stop);
    if (!segment.fills) {
      if (runs.size() == most) {
        return ResourceExhausted("the padding falls into more than ", most,
                                 " runs");
      }
      runs.push_back(
          {place + begin, segment.from, segment.step, until - place});
    }
    place = until;
  }
  return runs;
}

namespace {

constexpr int64_t kMost = int64_t{1} << 30;

/// Copies `given`, or `fallback` per axis when it is empty; every entry must be
/// in [least, kMost].
Result<std::vector<int64_t>> PerAxis(std::string_view name,
                                     const std::vector<int64_t>& given,
                                     size_t count, int64_t fallback,
                                     int64_t least) {
  if (given.empty()) return std::vector<int64_t>(count, fallback);
  if (given.size() != count) {
    return InvalidArgument(name, " has ", given.size(), " entries, wanted ",
                           count);
  }
  for (const int64_t value : given) {
    if (value < least || value > kMost) {
      return InvalidArgument(name, " has the entry ", value,
                             ", wanted one in [", least, ", ", kMost, "]");
    }
  }
  return given;
}

/// The attributes that both kinds of window share; pads as declared.
Result<Window> ReadWindow(const WindowAttributes& attributes,
                          std::span<const int64_t> input) {
  const size_t rank = input.size();
  for (const int64_t extent : input) {
    if (extent > kMost) {
      return InvalidArgument("a spatial extent is ", extent,
                             ", wanted at most ", kMost);
    }
  }
  Window window;
  ASSAY_ASSIGN_OR_RETURN(
      window.kernel, PerAxis("kernel_shape", attributes.kernel, rank, 1, 1));
  ASSAY_ASSIGN_OR_RETURN(window.strides,
                         PerAxis("strides", attributes.strides, rank, 1, 1));
  ASSAY_ASSIGN_OR_RETURN(
      window.dilations, PerAxis("dilations", attributes.dilations, rank, 1, 1));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<int64_t> pads,
                         PerAxis("pads", attributes.pads, 2 * rank, 0, 0));
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(rank);
  window.pads_begin.assign(pads.begin(), middle);
  window.pads_end.assign(middle, pads.end());
  window.output.resize(rank);
  const std::string_view mode = attributes.auto_pad;
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" &&
      mode != "SAME_LOWER") {
    return InvalidArgument("auto_pad is '", mode,
                           "', wanted NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  }
  if (mode != "NOTSET") {
    window.pads_begin.assign(rank, 0);
    window.pads_end.assign(rank, 0);
  }
  return window;
}

/// Divides a total among both ends, as ONNX states with a quotient rounded
/// down: a total may be below 0. The odd one goes where `upper` says.
void SplitPads(int64_t total, bool upper, int64_t& begin, int64_t& end) {
  const int64_t half = (total - (total % 2 < 0 ? 1 : 0)) / 2;
  begin = upper ? half : total - half;
  end = total - begin;
}

/// The output extent that ONNX states, ignoring under ceil_mode a last window
/// that would start in the end padding; -1 for any below 0.
int64_t OutputExtent(int64_t input, int64_t reach, int64_t stride,
                     int64_t begin, int64_t end, bool ceil_mode) {
  const int64_t room = input + begin + end - reach;
  const int64_t ends = room + (ceil_mode ? stride - 1 : 0) + stride;
  if (ends < 0) return -1;
  const int64_t output = ends / stride;
  const bool ignored =
      ceil_mode && output > 0 && (output - 1) * stride >= input + begin;
  return ignored ? output - 1 : output;
}

}  // namespace

Result<Window> ResolveWindow(const WindowAttributes& attributes,
                             std::span<const int64_t> input) {
  ASSAY_ASSIGN_OR_RETURN(Window window, ReadWindow(attributes, input));
  const bool same = attributes.auto_pad.starts_with("SAME");
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t reach = window.Reach(i);
    const int64_t stride = window.strides[i];
    int64_t& begin = window.pads_begin[i];
    int64_t& end = window.pads_end[i];
    if (same) {
      window.output[i] = (input[i] + stride - 1) / stride;
      const int64_t total = (window.output[i] - 1) * stride + reach - input[i];
      SplitPads(std::max<int64_t>(total, 0),
                attributes.auto_pad == "SAME_UPPER", begin, end);
    } else {
      window.output[i] = OutputExtent(input[i], reach, stride, begin, end,
                                      attributes.ceil_mode);
    }
    if (window.output[i] < 0 && input[i] > 0) {
      return InvalidArgument("a window of ", reach, " elements on axis ", i + 2,
                             " is wider than the ", input[i],
                             " of the input and its pads ", begin, " and ", end,
                             " by more than a stride of ", stride);
    }
    window.output[i] = std::max<int64_t>(window.output[i], 0);
    const int64_t used = (window.output[i] - 1) * stride + reach;
    window.overhangs = window.overhangs ||
                       (attributes.ceil_mode && used > input[i] + begin + end);
  }
  return window;
}

Result<Window> ResolveTransposedWindow(const WindowAttributes& attributes,
                                       std::span<const int64_t> input) {
  const size_t rank = input.size();
  ASSAY_ASSIGN_OR_RETURN(Window window, ReadWindow(attributes, input));
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<int64_t> extra,
      PerAxis("output_padding", attributes.output_padding, rank, 0, 0));
  const bool same = attributes.auto_pad.starts_with("SAME");
  const bool upper = attributes.auto_pad == "SAME_UPPER";
  const bool shaped = !attributes.output_shape.empty();
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<int64_t> shape,
      PerAxis("output_shape", attributes.output_shape, rank, 0, 1));
  for (size_t i = 0; i < rank; ++i) {
    const int64_t full =
        window.strides[i] * (input[i] - 1) + extra[i] + window.Reach(i);
    if (same || shaped) {
      window.output[i] = shaped ? shape[i] : input[i] * window.strides[i];
      SplitPads(full - window.output[i], upper, window.pads_begin[i],
                window.pads_end[i]);
    } else {
      window.output[i] = full - window.pads_begin[i] - window.pads_end[i];
    }
  }
  return window;
}

}  // namespace assay::inline v1::kernels

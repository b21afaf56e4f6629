// SPDX-License-Identifier: Apache-2.0

#include "framework/kernels/window.h"

#include <algorithm>
#include <string_view>

namespace assay::inline v1::kernels {
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
/// that would start in the end padding.
int64_t OutputExtent(int64_t input, int64_t reach, int64_t stride,
                     int64_t begin, int64_t end, bool ceil_mode) {
  const int64_t room = input + begin + end - reach;
  if (room < 0) return 0;
  if (!ceil_mode) return room / stride + 1;
  const int64_t output = (room + stride - 1) / stride + 1;
  return (output - 1) * stride >= input + begin ? output - 1 : output;
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
    if (window.output[i] < 1 && input[i] > 0) {
      return InvalidArgument("a window of ", reach, " elements on axis ", i + 2,
                             " is wider than the ", input[i],
                             " of the input and its pads ", begin, " and ",
                             end);
    }
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

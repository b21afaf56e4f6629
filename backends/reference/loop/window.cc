// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/loop/window.h"

#include <span>
#include <string_view>
#include <utility>

namespace assay::reference {
namespace {

// Extents beyond this cannot be real and would overflow the arithmetic below.
constexpr int64_t kLargest = int64_t{1} << 31;

/// Stands for the default where it is empty.
struct Given {
  std::string_view name;
  std::span<const int64_t> values;
  int64_t otherwise;

  int64_t operator[](size_t i) const {
    return values.empty() ? otherwise : values[i];
  }

  Status Check(int count, int64_t least) const {
    if (values.empty()) return OkStatus();
    if (std::cmp_not_equal(values.size(), count)) {
      return InvalidArgument(name, " has ", values.size(), " values, wanted ",
                             count);
    }
    for (const int64_t value : values) {
      if (value < least || value > kLargest) {
        return InvalidArgument(name, " has the value ", value, ", wanted ",
                               least, " to ", kLargest);
      }
    }
    return OkStatus();
  }
};

int64_t SpanOf(const WindowAxis& axis) {
  return (axis.kernel - 1) * axis.dilation + 1;
}

// The odd padding goes to the end where `upper`, else to the beginning.
void PadBy(int64_t total, bool upper, WindowAxis& axis) {
  total = std::max<int64_t>(total, 0);
  axis.pad_begin = upper ? total / 2 : total - total / 2;
  axis.pad_end = total - axis.pad_begin;
}

// floor(room / stride + 1), or ceil of it: none where the room is a little less
// than nothing.
Status CountOutputs(WindowAxis& axis, bool ceil_mode) {
  const int64_t span = SpanOf(axis);
  const int64_t room = axis.input + axis.pad_begin + axis.pad_end - span;
  const int64_t ends = room + (ceil_mode ? axis.stride - 1 : 0) + axis.stride;
  if (ends < 0) {
    return InvalidArgument("a window that spans ", span,
                           " is larger than the padded input of extent ",
                           room + span, " by more than a stride of ",
                           axis.stride);
  }
  axis.output = ends / axis.stride;
  // "Sliding windows that would start in the right padded region are ignored."
  if (ceil_mode && axis.output > 0 &&
      axis.Start(axis.output - 1) >= axis.input) {
    --axis.output;
  }
  return OkStatus();
}

}  // namespace

struct Window::Attributes {
  Given kernel, strides, dilations, pads;  // of the spec
  bool explicit_pads = true;
  bool same = false;
  bool upper = false;  // the odd padding of `same` goes to the end

  void PadExplicitly(size_t i, int rank, WindowAxis& axis) const {
    if (!explicit_pads) return;
    axis.pad_begin = pads[i];
    axis.pad_end = pads[i + static_cast<size_t>(rank)];
  }
};

Result<Window::Attributes> Window::Complete(const WindowSpec& spec,
                                            const Shape& input) {
  const int rank = input.rank() - 2;
  if (rank < 1 || rank > 3) {
    return Unsupported(Reason::kShape, "an input of shape ", input.ToString(),
                       ", wanted one to three spatial axes");
  }
  Attributes all{.kernel = {"kernel_shape", spec.kernel_shape, 1},
                 .strides = {"strides", spec.strides, 1},
                 .dilations = {"dilations", spec.dilations, 1},
                 .pads = {"pads", spec.pads, 0}};
  for (const Given* given : {&all.kernel, &all.strides, &all.dilations}) {
    ASSAY_RETURN_IF_ERROR(given->Check(rank, 1));
  }
  ASSAY_RETURN_IF_ERROR(all.pads.Check(2 * rank, 0));
  all.upper = spec.auto_pad == "SAME_UPPER";
  all.same = all.upper || spec.auto_pad == "SAME_LOWER";
  all.explicit_pads = spec.auto_pad == "NOTSET" || spec.auto_pad.empty();
  if (!all.same && !all.explicit_pads && spec.auto_pad != "VALID") {
    return InvalidArgument("auto_pad is '", spec.auto_pad,
                           "', wanted NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  }
  return all;
}

Result<Window> Window::Plan(const WindowSpec& spec, const Shape& input) {
  const int rank = input.rank() - 2;
  ASSAY_ASSIGN_OR_RETURN(const Attributes all, Complete(spec, input));
  Window window;
  window.rank_ = rank;
  for (int k = 0; k < rank; ++k) {
    const auto i = static_cast<size_t>(k);
    WindowAxis& axis = window.axes_.at(static_cast<size_t>(3 - rank + k));
    axis = {.input = input[k + 2],
            .kernel = all.kernel[i],
            .stride = all.strides[i],
            .dilation = all.dilations[i]};
    all.PadExplicitly(i, rank, axis);
    if (all.same) {  // as many outputs as strides fit into the input
      const int64_t outputs = (axis.input + axis.stride - 1) / axis.stride;
      PadBy((outputs - 1) * axis.stride + SpanOf(axis) - axis.input, all.upper,
            axis);
    }
    ASSAY_RETURN_IF_ERROR(CountOutputs(axis, spec.ceil_mode));
  }
  return window;
}

// output = stride * (input - 1) + output_padding + span - pads; where the
// output is given instead, what is too much is padding.
Result<Window> Window::PlanTransposed(const WindowSpec& spec,
                                      std::span<const int64_t> output_padding,
                                      std::span<const int64_t> output_shape,
                                      const Shape& input) {
  const int rank = input.rank() - 2;
  ASSAY_ASSIGN_OR_RETURN(const Attributes all, Complete(spec, input));
  const Given more{"output_padding", output_padding, 0};
  ASSAY_RETURN_IF_ERROR(more.Check(rank, 0));
  const Given wanted{"output_shape", output_shape, 0};
  ASSAY_RETURN_IF_ERROR(wanted.Check(rank, 1));
  Window window;
  window.rank_ = rank;
  for (int k = 0; k < rank; ++k) {
    const auto i = static_cast<size_t>(k);
    WindowAxis& axis = window.axes_.at(static_cast<size_t>(3 - rank + k));
    axis = {.kernel = all.kernel[i],
            .stride = all.strides[i],
            .dilation = all.dilations[i],
            .output = input[k + 2]};
    const int64_t whole =
        axis.stride * (axis.output - 1) + more[i] + SpanOf(axis);
    const bool fixed = wanted[i] > 0;
    if (fixed || all.same) {
      axis.input = fixed ? wanted[i] : axis.output * axis.stride;
      PadBy(whole - axis.input, all.upper, axis);
    } else {
      all.PadExplicitly(i, rank, axis);
      axis.input = whole - axis.pad_begin - axis.pad_end;
    }
    if (axis.input < 1) {
      return InvalidArgument("the output has the extent ", axis.input,
                             " along spatial axis ", k);
    }
  }
  return window;
}

int64_t Window::Size(int64_t WindowAxis::*extent) const {
  return axes_[0].*extent * axes_[1].*extent * axes_[2].*extent;
}

Shape Window::ShapeOf(int64_t n, int64_t channels,
                      int64_t WindowAxis::*extent) const {
  Dims dims = {n, channels};
  for (int k = 3 - rank_; k < 3; ++k) {
    dims.push_back(axes_.at(static_cast<size_t>(k)).*extent);
  }
  return Shape(dims);
}

int64_t Window::PaddedTaps(int64_t output) const {
  const auto& [x, y, z] = axes_;
  return x.PaddedTaps(output / (y.output * z.output)) *
         y.PaddedTaps(output / z.output % y.output) *
         z.PaddedTaps(output % z.output);
}

int64_t Window::ColumnMajor(int64_t input) const {
  const auto& [x, y, z] = axes_;
  const int64_t ix = input / (y.input * z.input);
  const int64_t iy = input / z.input % y.input;
  const int64_t iz = input % z.input;
  return ix + x.input * (iy + y.input * iz);
}

}  // namespace assay::reference

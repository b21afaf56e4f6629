// SPDX-License-Identifier: Apache-2.0
//
// Resize by oneDNN's resampling, which has one rule: output place o of an axis
// comes from (o + 1/2) in / out - 1/2, rounded half up for nearest and clamped
// to the axis (oneDNN 3.2, src/common/resampling_pd.hpp and
// src/cpu/resampling_utils.hpp). A node whose rule finds the same places for
// every output is that; any other is declined.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// One axis: its extents, and the scale that ONNX's rules are stated in.
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  double scale = 1;
};

/// Where an output place comes from, by ONNX's coordinate_transformation_mode.
double OnnxPlace(const op::Resize& op, const Axis& axis, int64_t at) {
  const std::string& mode = op.coordinate_transformation_mode;
  const auto o = static_cast<double>(at);
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  if (mode == "asymmetric") return o / axis.scale;
  if (mode == "align_corners")
    return axis.out == 1 ? 0 : o * (in - 1) / (out - 1);
  if (mode == "pytorch_half_pixel" && axis.out == 1) return 0;
  const double half_pixel = (o + 0.5) / axis.scale - 0.5;
  if (mode != "half_pixel_symmetric") return half_pixel;
  return in / 2 * (1 - out / (axis.scale * in)) + half_pixel;
}

double OneDnnPlace(const Axis& axis, int64_t at) {
  return (static_cast<double>(at) + 0.5) * static_cast<double>(axis.in) /
             static_cast<double>(axis.out) -
         0.5;
}

double RoundedPlace(const std::string& mode, double place) {
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  return mode == "round_prefer_ceil" ? std::floor(place + 0.5)
                                     : std::ceil(place - 0.5);
}

/// True when both rules find one place for every output of an axis. Places are
/// compared as computed in double; float32 holds them to 1e-6 of an extent.
bool SamePlaces(const op::Resize& op, const Axis& axis) {
  const auto last = static_cast<double>(axis.in - 1);
  for (int64_t at = 0; at < axis.out; ++at) {
    double onnx = OnnxPlace(op, axis, at);
    double own = OneDnnPlace(axis, at);
    if (op.mode == "nearest") {
      onnx = RoundedPlace(op.nearest_mode, onnx);
      own = RoundedPlace("round_prefer_ceil", own);
    }
    onnx = std::clamp(onnx, 0.0, last);
    own = std::clamp(own, 0.0, last);
    if (std::abs(onnx - own) > 1e-6) return false;
  }
  return true;
}

/// Attributes that oneDNN has nothing for.
Status CheckAttributes(const op::Resize& op) {
  if (op.mode != "nearest" && op.mode != "linear") {
    return Unsupported(Reason::kAttribute, "mode is ", op.mode,
                       ", oneDNN resamples nearest and linear");
  }
  if (op.antialias != 0) {
    return Unsupported(Reason::kAttribute,
                       "antialias, which oneDNN's resampling lacks");
  }
  if (op.coordinate_transformation_mode == "tf_crop_and_resize") {
    return Unsupported(Reason::kAttribute,
                       "tf_crop_and_resize, oneDNN resamples whole images");
  }
  return OkStatus();
}

/// The axes that scales and sizes are of.
Result<std::vector<int>> ListedAxes(const op::Resize& op, int rank) {
  std::vector<int> axes;
  for (const int64_t axis : op.axes) {
    ASSAY_ASSIGN_OR_RETURN(const int at, kernels::NormalizeAxis(axis, rank));
    axes.push_back(at);
  }
  for (int i = 0; op.axes.empty() && i < rank; ++i) axes.push_back(i);
  return axes;
}

/// ONNX's keep_aspect_ratio_policy: one scale for all listed axes.
void KeepAspectRatio(const std::string& policy, std::vector<Axis>& axes,
                     const std::vector<int>& listed) {
  if (policy == "stretch") return;
  std::optional<double> scale;
  for (const int at : listed) {
    const double own = axes[static_cast<size_t>(at)].scale;
    if (!scale.has_value()) scale = own;
    scale =
        policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own);
  }
  for (const int at : listed) {
    Axis& axis = axes[static_cast<size_t>(at)];
    axis.scale = *scale;
    axis.out = std::llround(*scale * static_cast<double>(axis.in));
  }
}

Result<std::vector<Axis>> ReadAxes(ChainBuilder& chain, const op::Resize& op,
                                   const Shape& x) {
  std::vector<Axis> axes;
  for (const int64_t extent : x) axes.push_back({extent, extent, 1});
  ASSAY_ASSIGN_OR_RETURN(const auto listed, ListedAxes(op, x.rank()));
  std::vector<int64_t> sizes;
  std::vector<float> scales;
  if (op.sizes.present) {
    ASSAY_ASSIGN_OR_RETURN(sizes, chain.Integers(op.sizes, "sizes"));
  } else {
    ASSAY_ASSIGN_OR_RETURN(scales, chain.Floats(op.scales, "scales"));
  }
  if (std::max(sizes.size(), scales.size()) != listed.size()) {
    return InvalidArgument("scales or sizes have ",
                           std::max(sizes.size(), scales.size()),
                           " entries, wanted ", listed.size());
  }
  constexpr double kMost = 1 << 30;
  for (size_t i = 0; i < listed.size(); ++i) {
    Axis& axis = axes[static_cast<size_t>(listed[i])];
    const auto in = static_cast<double>(axis.in);
    axis.scale = sizes.empty() ? static_cast<double>(scales[i])
                               : static_cast<double>(sizes[i]) / in;
    if (!(axis.scale > 0) || !(axis.scale * in < kMost)) {
      return InvalidArgument("an axis of ", axis.in, " is scaled by ",
                             axis.scale);
    }
    axis.out = sizes.empty() ? static_cast<int64_t>(std::floor(axis.scale * in))
                             : sizes[i];
  }
  if (op.sizes.present) {
    KeepAspectRatio(op.keep_aspect_ratio_policy, axes, listed);
  }
  return axes;
}

/// The axes as oneDNN takes them: those before the first that is resampled are
/// one batch axis, the others, at most three, are spatial.
struct ResizeExtents {
  memory::dims from, to;
  Shape shape;
};

Result<ResizeExtents> ReadResizeExtents(const std::vector<Axis>& axes) {
  ResizeExtents extents{.from = {1, 1}, .to = {1, 1}};
  std::vector<int64_t> shape;
  for (const Axis& axis : axes) {
    shape.push_back(axis.out);
    const bool batch = extents.from.size() == 2 && axis.in == axis.out;
    if (batch) {
      extents.from[0] *= axis.in;
      extents.to[0] *= axis.in;
    } else {
      extents.from.push_back(axis.in);
      extents.to.push_back(axis.out);
    }
  }
  if (extents.from.size() == 2) {  // nothing is resampled
    extents.from.push_back(1);
    extents.to.push_back(1);
  }
  if (extents.from.size() > 5) {
    return Unsupported(Reason::kShape, extents.from.size() - 2,
                       " axes from the first that is resampled on, oneDNN "
                       "takes at most 3");
  }
  extents.shape = Shape(shape);
  return extents;
}

Result<Fill> MakeResize(const op::Resize& op, LoadContext&) {
  ASSAY_RETURN_IF_ERROR(CheckAttributes(op));
  return Fill([=](ChainBuilder& chain) -> Status {
    const bool linear = op.mode == "linear";
    ASSAY_ASSIGN_OR_RETURN(const TensorView x,
                           chain.View(op.x, linear ? CheckFloat : CheckExact));
    ASSAY_ASSIGN_OR_RETURN(const auto axes, ReadAxes(chain, op, x.shape));
    for (const Axis& axis : axes) {
      if (axis.in == 0 || axis.out == 0 || SamePlaces(op, axis)) continue;
      return Unsupported(Reason::kAttribute, op.coordinate_transformation_mode,
                         " from ", axis.in, " to ", axis.out, " by ",
                         axis.scale, ", ", linear ? op.mode : op.nearest_mode,
                         ", finds other places than oneDNN's half pixels");
    }
    ASSAY_ASSIGN_OR_RETURN(const auto extents, ReadResizeExtents(axes));
    ASSAY_ASSIGN_OR_RETURN(const auto y, chain.View(x.dtype, extents.shape));
    const memory::desc from = x.As(extents.from);
    const memory::desc to = y.As(extents.to);
    chain.Add<dnnl::resampling_forward>(
        {chain.engine(), chain.prop(),
         linear ? algorithm::resampling_linear : algorithm::resampling_nearest,
         from, to, ChainBuilder::attr()},
        {{DNNL_ARG_SRC, chain.In(op.x, from)},
         {DNNL_ARG_DST, chain.Out(op.y, y, to)}});
    return OkStatus();
  });
}

}  // namespace

FamilyPointer MakeResampling(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, MakeResize);
}

}  // namespace assay::onednn

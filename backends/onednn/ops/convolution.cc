// SPDX-License-Identifier: Apache-2.0
//
// Conv and ConvTranspose over one, two and three spatial axes.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/ops/operands.h"

namespace assay::onednn {
namespace {

/// The end pads are left as the operator states them.
Window Counted(const kernels::Window& window) {
  Window counted = {window.kernel,     window.strides,  window.dilations,
                    window.pads_begin, window.pads_end, window.output,
                    window.pads_end,   window.overhangs};
  for (int64_t& dilation : counted.dilations) --dilation;
  return counted;
}

}  // namespace

Result<Window> MakeWindow(const WindowAttributes& attributes,
                          std::span<const int64_t> input) {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Window window,
                         kernels::ResolveWindow(attributes, input));
  Window counted = Counted(window);
  for (size_t i = 0; i < input.size(); ++i) {
    const int64_t stride = window.strides[i];
    const int64_t least = (window.output[i] - 1) * stride + window.Reach(i) -
                          input[i] - window.pads_begin[i];
    counted.pads_end[i] =
        std::clamp(window.pads_end[i], least, least + stride - 1);
  }
  return counted;
}

Result<Window> MakeTransposedWindow(const WindowAttributes& attributes,
                                    std::span<const int64_t> input) {
  ASSAY_ASSIGN_OR_RETURN(const kernels::Window window,
                         kernels::ResolveTransposedWindow(attributes, input));
  Window counted = Counted(window);
  for (size_t i = 0; i < input.size(); ++i) {
    counted.pads_end[i] = window.strides[i] * (input[i] - 1) + window.Reach(i) -
                          window.pads_begin[i] - window.output[i];
  }
  return counted;
}

Status CheckOperands(int in_axis, int64_t groups,
                     const std::vector<int64_t>& kernel_shape,
                     Operands& operands) {
  const Shape& x = operands.x.shape;
  const Shape& w = operands.w.shape;
  if (x.rank() < 3 || w.rank() != x.rank()) {
    return InvalidArgument("x is ", x.ToString(), " and w ", w.ToString(),
                           ", wanted equal ranks of at least 3");
  }
  if (x.rank() > 5) {
    return Unsupported(Reason::kShape, "x is ", x.ToString(),
                       ", oneDNN convolves over 1 to 3 spatial axes");
  }
  const int64_t in_channels = w[in_axis] * (in_axis == 1 ? groups : 1);
  if (groups < 1 || x[1] != in_channels || w[0] % groups != 0) {
    return InvalidArgument("x is ", x.ToString(), ", w ", w.ToString(),
                           " and group ", groups,
                           ", which do not fit together");
  }
  operands.channels = in_axis == 1 ? w[0] : w[1] * groups;
  operands.spatial.assign(x.begin() + 2, x.end());
  if (!kernel_shape.empty() &&
      !std::ranges::equal(kernel_shape, std::span(w.dims()).subspan(2))) {
    return InvalidArgument("kernel_shape is ", Shape(kernel_shape).ToString(),
                           ", w is ", w.ToString());
  }
  return OkStatus();
}

Shape OutputShape(const Operands& operands, const Window& window) {
  std::vector<int64_t> dims = {operands.x.shape[0], operands.channels};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  return Shape(dims);
}

memory::desc ConvWeights(const TensorView& w, int64_t groups) {
  if (groups == 1) return w.Desc();
  memory::dims dims = w.shape.dims();
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  return w.As(dims);
}

namespace {

using dnnl::algorithm;

/// ONNX stores input before output channels here; the strides exchange them.
memory::desc TransposedWeights(const TensorView& w, int64_t groups) {
  memory::dims dims = w.shape.dims();  // input, output of a group, kernel
  dims[0] /= groups;
  dims.insert(dims.begin(), groups);
  memory::dims strides = kernels::RowMajorStrides(dims);
  std::swap(dims[1], dims[2]);
  std::swap(strides[1], strides[2]);
  if (groups == 1) {
    dims.erase(dims.begin());
    strides.erase(strides.begin());
  }
  return StridedDesc(dims, w.type, std::move(strides));
}

/// The descriptor of the bias; an empty one where the node has none.
template <class Op>
Result<memory::desc> Bias(ChainBuilder& chain, const Op& op, int64_t channels) {
  if (!op.b.present) return memory::desc();
  ASSAY_ASSIGN_OR_RETURN(const TensorView bias, chain.View(op.b));
  if (bias.count != channels) {
    return InvalidArgument("the bias is ", bias.shape.ToString(), ", wanted [",
                           channels, "]");
  }
  return bias.As({channels});
}

/// Appends a convolution or deconvolution that is described the same way.
template <class Primitive, class Op>
Status AddConvolution(ChainBuilder& chain, const Op& op, algorithm kind,
                      const Operands& operands, const Window& window,
                      const memory::desc& given) {
  ASSAY_ASSIGN_OR_RETURN(const auto bias, Bias(chain, op, operands.channels));
  ASSAY_ASSIGN_OR_RETURN(
      const TensorView y,
      chain.View(operands.x.dtype, OutputShape(operands, window)));
  // The weights' layout is the library's choice where the model fixes them.
  const memory::desc wanted =
      chain.fixed(op.w) == nullptr ? given : AnyLayout(given);
  const memory::desc source = operands.x.Desc();
  const auto attr = ChainBuilder::attr();
  using Desc = typename Primitive::primitive_desc;
  const Desc desc =
      op.b.present ? Desc(chain.engine(), chain.prop(), kind, source, wanted,
                          bias, y.Desc(), window.strides, window.dilations,
                          window.pads_begin, window.pads_end, attr)
                   : Desc(chain.engine(), chain.prop(), kind, source, wanted,
                          y.Desc(), window.strides, window.dilations,
                          window.pads_begin, window.pads_end, attr);
  chain.Add<Primitive>(
      desc,
      {{DNNL_ARG_SRC, chain.In(op.x, source)},
       {DNNL_ARG_WEIGHTS, chain.Arranged(op.w, given, desc.weights_desc())},
       {DNNL_ARG_DST, chain.Out(op.y, y, y.Desc())},
       {DNNL_ARG_BIAS, op.b.present ? chain.In(op.b, bias) : memory()}});
  return OkStatus();
}

Status AddConv(const op::Conv& op, ChainBuilder& chain) {
  Operands operands;
  ASSAY_RETURN_IF_ERROR(ReadOperands(chain, op, 1, CheckFloat, operands));
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         MakeWindow(WindowOf(op, operands), operands.spatial));
  return AddConvolution<dnnl::convolution_forward>(
      chain, op, algorithm::convolution_direct, operands, window,
      ConvWeights(operands.w, op.group));
}

Status AddConvTranspose(const op::ConvTranspose& op, ChainBuilder& chain) {
  Operands operands;
  ASSAY_RETURN_IF_ERROR(ReadOperands(chain, op, 0, CheckFloat, operands));
  kernels::WindowAttributes attributes = WindowOf(op, operands);
  attributes.output_padding = op.output_padding;
  attributes.output_shape = op.output_shape;
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         MakeTransposedWindow(attributes, operands.spatial));
  return AddConvolution<dnnl::deconvolution_forward>(
      chain, op, algorithm::deconvolution_direct, operands, window,
      TransposedWeights(operands.w, op.group));
}

}  // namespace

FamilyPointer MakeConvolution(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, AddConv, AddConvTranspose);
}

}  // namespace assay::onednn

// SPDX-License-Identifier: Apache-2.0
//
// Products and convolutions of int8 and uint8: MatMulInteger, QLinearMatMul,
// ConvInteger and QLinearConv, with zero points and scales as attributes of
// oneDNN's primitives.
//
// Before VNNI oneDNN may saturate sums of two products at 16 bits: there its
// int8 kernels are another operator, and left alone.
//
// oneDNN's int8 weights are signed: an uint8 matrix is moved by 128 together
// with its zero point. Its convolution has no zero point of the weights; there
// the differences to the zero points, integers of at most 255, are convolved
// in float32, exactly as long as sums stay below 2^24. Its kernels take their
// own sums through float32 too: where ONNX wants the sums themselves, longer
// ones are declined.
#include <algorithm>
#include <memory>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/ops/operands.h"
#include "backends/onednn/primitive/device.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;
using Type = memory::data_type;
using Arguments = std::vector<ChainBuilder::Argument>;

/// So many products of two differences of bytes have a float32 as every sum.
constexpr int64_t kMostExactTerms = (int64_t{1} << 24) / (255 * 255);

bool HasVnni() {
  return HasIsa(dnnl::cpu_isa::avx2_vnni) ||
         HasIsa(dnnl::cpu_isa::avx512_core_vnni);
}

memory::desc Retyped(const memory::desc& desc, Type type) {
  return {desc.get_dims(), type, desc.get_strides()};
}

/// An attribute and the arguments that its scales and zero points take.
struct Attributes {
  dnnl::primitive_attr attr = ChainBuilder::attr();
  Arguments arguments;

  void ZeroPoint(int name, const memory& value) {
    attr.set_zero_points_mask(name, 0);
    arguments.push_back({DNNL_ARG_ATTR_ZERO_POINTS | name, value});
  }
  void Scale(int name, int mask, const memory& value) {
    attr.set_scales_mask(name, mask);
    arguments.push_back({DNNL_ARG_ATTR_SCALES | name, value});
  }
  /// These arguments, then those of the primitive itself.
  Arguments Beside(const Arguments& own) const {
    Arguments all = arguments;
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }
};

/// The right operand as int8, and its zero point.
struct Weights {
  memory data, zero_point;
};

Result<Weights> SignedWeights(ChainBuilder& chain, Input b, Input zero_point,
                              const TensorView& view,
                              const memory::desc& desc) {
  const memory data = chain.In(b, desc);
  memory shift;
  if (zero_point.present) {
    ASSAY_ASSIGN_OR_RETURN(shift, ZeroPoint(chain, zero_point));
  }
  if (view.dtype == DType::kInt8) return Weights{data, shift};
  const memory moved = chain.Temporary(Retyped(desc, Type::s8));
  const memory half = chain.Constant(128, desc.get_dims().size());
  chain.Binary(algorithm::binary_sub, data, half, moved);
  const memory real = chain.Constant(-128);
  const memory whole = chain.Temporary(Retyped(real.get_desc(), Type::s32));
  if (zero_point.present) {
    ASSAY_ASSIGN_OR_RETURN(const auto given, OneElement(chain, zero_point, 1));
    const memory sum = chain.Temporary(real.get_desc());
    chain.Binary(algorithm::binary_add, given, real, sum);
    chain.Copy(sum, whole);
  } else {
    chain.Copy(real, whole);
  }
  return Weights{moved, whole};
}

/// Both operands of a product of bytes, and its extents.
struct Factors {
  TensorView a, b;
  MatrixProduct product;
};

Result<Factors> ReadFactors(ChainBuilder& chain, Input a, Input b) {
  if (!HasVnni()) {
    return Unsupported(Reason::kDType,
                       "oneDNN saturates int8 products at 16 bits on this "
                       "machine, which has no VNNI");
  }
  Factors factors;
  ASSAY_ASSIGN_OR_RETURN(factors.a, chain.View(a, CheckByte));
  ASSAY_ASSIGN_OR_RETURN(factors.b, chain.View(b, CheckByte));
  ASSAY_ASSIGN_OR_RETURN(factors.product,
                         ReadProduct(factors.a.shape, factors.b.shape));
  return factors;
}

/// Appends out = (a - a_zero_point) (b - b_zero_point) under `with`.
template <class Op>
Status AddProduct(ChainBuilder& chain, const Op& op, const Factors& factors,
                  Attributes with, const memory& out) {
  const memory::desc left = factors.a.As(factors.product.a);
  ASSAY_ASSIGN_OR_RETURN(const Weights right,
                         SignedWeights(chain, op.b, op.b_zero_point, factors.b,
                                       factors.b.As(factors.product.b)));
  if (op.a_zero_point.present) {
    ASSAY_ASSIGN_OR_RETURN(const auto zero, ZeroPoint(chain, op.a_zero_point));
    with.ZeroPoint(DNNL_ARG_SRC, zero);
  }
  if (IsThere(right.zero_point)) {
    with.ZeroPoint(DNNL_ARG_WEIGHTS, right.zero_point);
  }
  chain.Add<dnnl::matmul>(
      {chain.engine(), left, right.data.get_desc(), out.get_desc(), with.attr},
      with.Beside({{DNNL_ARG_SRC, chain.In(op.a, left)},
                   {DNNL_ARG_WEIGHTS, right.data},
                   {DNNL_ARG_DST, out}}));
  return OkStatus();
}

Status AddMatMulInteger(const op::MatMulInteger& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Factors factors, ReadFactors(chain, op.a, op.b));
  if (factors.product.a.back() > kMostExactTerms) {
    return Unsupported(Reason::kShape, "sums of ", factors.product.a.back(),
                       " products, which oneDNN takes through float32, exact "
                       "for up to ",
                       kMostExactTerms);
  }
  ASSAY_ASSIGN_OR_RETURN(const TensorView y,
                         chain.View(DType::kInt32, factors.product.shape));
  return AddProduct(chain, op, factors, {},
                    chain.Out(op.y, y, y.As(factors.product.y)));
}

/// One scale, or one a column of the right operand.
Status AddScales(ChainBuilder& chain, const op::QLinearMatMul& op,
                 const MatrixProduct& product, Attributes& with) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView a, Scale(chain, op.a_scale));
  ASSAY_ASSIGN_OR_RETURN(const TensorView b, Scale(chain, op.b_scale));
  const auto rank = static_cast<int>(product.b.size());
  const bool columns = b.shape.rank() == 1 && b.count == product.b.back();
  if (a.count != 1 || (b.count != 1 && !columns)) {
    return Unsupported(Reason::kAttribute, "scales are ", a.shape.ToString(),
                       " and ", b.shape.ToString(),
                       ", oneDNN takes one for the left operand and one, or "
                       "one a column, for the right");
  }
  with.Scale(DNNL_ARG_SRC, 0, chain.In(op.a_scale, a.As({1})));
  with.Scale(DNNL_ARG_WEIGHTS, b.count == 1 ? 0 : 1 << (rank - 1),
             chain.In(op.b_scale, b.As({b.count})));
  return OkStatus();
}

Status AddQLinearMatMul(const op::QLinearMatMul& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const Factors factors, ReadFactors(chain, op.a, op.b));
  const MatrixProduct& product = factors.product;
  ASSAY_ASSIGN_OR_RETURN(
      const TensorView y,
      chain.View(chain.dtype(op.y_zero_point), product.shape));
  Attributes with;
  ASSAY_RETURN_IF_ERROR(AddScales(chain, op, product, with));
  const memory::desc out = y.As(product.y);
  const memory real = chain.Temporary(Retyped(out, Type::f32));
  ASSAY_RETURN_IF_ERROR(AddProduct(chain, op, factors, with, real));
  return QuantizeResult(chain, op.y_scale, op.y_zero_point, real,
                        chain.Out(op.y, y, out));
}

/// True when oneDNN's int8 convolution is the node's: int8 weights whose zero
/// points the model fixes to 0, and kernels that do not saturate.
template <class Op>
bool IsNative(const ChainBuilder& chain, const Op& op) {
  if (chain.dtype(op.w) != DType::kInt8 || !HasVnni()) return false;
  if (!op.w_zero_point.present) return true;
  const Tensor* const zero = chain.fixed(op.w_zero_point);
  return zero != nullptr &&
         std::ranges::all_of(
             zero->bytes(), [](std::byte byte) { return byte == std::byte{}; });
}

/// Appends a convolution under `with` of x, w and no bias.
void AddConvolution(ChainBuilder& chain, const Window& window,
                    const Attributes& with, const memory& x, const memory& w,
                    const memory& out) {
  const dnnl::convolution_forward::primitive_desc desc(
      chain.engine(), kInference, algorithm::convolution_direct, x.get_desc(),
      AnyLayout(w.get_desc()), out.get_desc(), window.strides, window.dilations,
      window.pads_begin, window.pads_end, with.attr);
  memory weights = w;
  if (desc.weights_desc() != w.get_desc()) {
    weights = chain.Temporary(desc.weights_desc());
    chain.Copy(w, weights);
  }
  chain.Add<dnnl::convolution_forward>(desc,
                                       with.Beside({{DNNL_ARG_SRC, x},
                                                    {DNNL_ARG_WEIGHTS, weights},
                                                    {DNNL_ARG_DST, out}}));
}

/// An input less its zero point, as float32; one zero point, or one an entry
/// of the first axis.
Result<memory> Difference(ChainBuilder& chain, Input input, Input zero_point,
                          const TensorView& view) {
  const memory::desc desc = view.Desc();
  const memory to = chain.Temporary(Retyped(desc, Type::f32));
  if (!zero_point.present) {
    chain.Copy(chain.In(input, desc), to);
    return to;
  }
  ASSAY_ASSIGN_OR_RETURN(const TensorView zero, chain.View(zero_point));
  memory::dims ones(desc.get_dims().size(), 1);
  if (zero.count == view.shape[0]) {
    ones[0] = zero.count;
  } else if (zero.count != 1) {
    return InvalidArgument("a zero point is ", zero.shape.ToString(),
                           ", the tensor ", view.shape.ToString());
  }
  chain.Binary(algorithm::binary_sub, chain.In(input, desc),
               chain.In(zero_point, zero.As(ones)), to);
  return to;
}

/// The convolution of differences in float32.
template <class Op>
Status AddFloatConvolution(ChainBuilder& chain, const Op& op,
                           const Operands& operands, const Window& window,
                           const memory& out) {
  ASSAY_ASSIGN_OR_RETURN(const memory x,
                         Difference(chain, op.x, op.x_zero_point, operands.x));
  ASSAY_ASSIGN_OR_RETURN(const memory w,
                         Difference(chain, op.w, op.w_zero_point, operands.w));
  const memory grouped = chain.Redescribe(
      w, Retyped(ConvWeights(operands.w, op.group), Type::f32));
  AddConvolution(chain, window, {}, x, grouped, out);
  return OkStatus();
}

/// oneDNN's int8 convolution, with the zero point of x as its attribute.
template <class Op>
Status AddIntegerConvolution(ChainBuilder& chain, const Op& op,
                             const Operands& operands, const Window& window,
                             Attributes with, const memory& out) {
  if (op.x_zero_point.present) {
    ASSAY_ASSIGN_OR_RETURN(const auto zero, ZeroPoint(chain, op.x_zero_point));
    with.ZeroPoint(DNNL_ARG_SRC, zero);
  }
  AddConvolution(chain, window, with, chain.In(op.x, operands.x.Desc()),
                 chain.In(op.w, ConvWeights(operands.w, op.group)), out);
  return OkStatus();
}

/// True when a sum of products of two differences of bytes is a float32.
bool IsExact(const TensorView& w) {
  const auto& dims = w.shape.dims();
  return kernels::Product(dims, 1, dims.size()) <= kMostExactTerms;
}

Status AddConvInteger(const op::ConvInteger& op, ChainBuilder& chain) {
  Operands operands;
  ASSAY_RETURN_IF_ERROR(ReadOperands(chain, op, 1, CheckByte, operands));
  ASSAY_RETURN_IF_ERROR(CheckByte(operands.w));
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         MakeWindow(WindowOf(op, operands), operands.spatial));
  ASSAY_ASSIGN_OR_RETURN(
      const TensorView y,
      chain.View(DType::kInt32, OutputShape(operands, window)));
  const memory out = chain.Out(op.y, y, y.Desc());
  if (!IsExact(operands.w)) {
    return Unsupported(Reason::kShape, "sums of more than ", kMostExactTerms,
                       " products, which oneDNN takes through float32");
  }
  if (IsNative(chain, op)) {
    return AddIntegerConvolution(chain, op, operands, window, {}, out);
  }
  const memory real = chain.Temporary(Retyped(y.Desc(), Type::f32));
  ASSAY_RETURN_IF_ERROR(AddFloatConvolution(chain, op, operands, window, real));
  chain.Copy(real, out);
  return OkStatus();
}

/// The scales of a QLinearConv: one of x, and one of w or one a channel.
struct ConvScales {
  TensorView x, w;
};

Result<ConvScales> ReadScales(ChainBuilder& chain, const op::QLinearConv& op,
                              int64_t channels) {
  ConvScales scales;
  ASSAY_ASSIGN_OR_RETURN(scales.x, Scale(chain, op.x_scale));
  ASSAY_ASSIGN_OR_RETURN(scales.w, Scale(chain, op.w_scale));
  if (scales.x.count == 1 &&
      (scales.w.count == 1 || scales.w.count == channels)) {
    return scales;
  }
  return InvalidArgument("scales are ", scales.x.shape.ToString(), " and ",
                         scales.w.shape.ToString(), ", wanted one of x and ",
                         channels, " of w, or one");
}

/// Appends data *= x_scale * w_scale, a channel at axis `axis` of `rank`.
void AddScaling(ChainBuilder& chain, const op::QLinearConv& op,
                const ConvScales& scales, size_t axis, const memory& data) {
  const memory::dims ones(data.get_desc().get_dims().size(), 1);
  memory::dims channels = ones;
  channels[axis] = scales.w.count;
  chain.Binary(algorithm::binary_mul, data,
               chain.In(op.x_scale, scales.x.As(ones)), data);
  chain.Binary(algorithm::binary_mul, data,
               chain.In(op.w_scale, scales.w.As(channels)), data);
}

/// Appends real += x_scale * w_scale * b.
Status AddBias(ChainBuilder& chain, const op::QLinearConv& op,
               const ConvScales& scales, int64_t channels, const memory& real) {
  if (!op.b.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const TensorView b, chain.View(op.b));
  if (b.count != channels || b.dtype != DType::kInt32) {
    return InvalidArgument("the bias is ", b.dtype, b.shape.ToString(),
                           ", wanted int32[", channels, "]");
  }
  memory::dims dims(real.get_desc().get_dims().size(), 1);
  dims[1] = channels;
  const memory::desc desc = b.As(dims);
  const memory bias = chain.Temporary(Retyped(desc, Type::f32));
  chain.Copy(chain.In(op.b, desc), bias);
  AddScaling(chain, op, scales, 1, bias);
  chain.Binary(algorithm::binary_add, real, bias, real);
  return OkStatus();
}

/// Appends the convolution in real numbers.
Status AddRealConvolution(ChainBuilder& chain, const op::QLinearConv& op,
                          const Operands& operands, const Window& window,
                          const ConvScales& scales, const memory& real) {
  if (!IsNative(chain, op)) {
    ASSAY_RETURN_IF_ERROR(
        AddFloatConvolution(chain, op, operands, window, real));
    AddScaling(chain, op, scales, 1, real);
    return OkStatus();
  }
  const int each = op.group == 1 ? 1 : 3;  // output channels, in groups
  Attributes with;
  with.Scale(DNNL_ARG_SRC, 0, chain.In(op.x_scale, scales.x.As({1})));
  with.Scale(DNNL_ARG_WEIGHTS, scales.w.count == 1 ? 0 : each,
             chain.In(op.w_scale, scales.w.As({scales.w.count})));
  return AddIntegerConvolution(chain, op, operands, window, with, real);
}

Status AddQLinearConv(const op::QLinearConv& op, ChainBuilder& chain) {
  Operands operands;
  ASSAY_RETURN_IF_ERROR(ReadOperands(chain, op, 1, CheckByte, operands));
  ASSAY_RETURN_IF_ERROR(CheckByte(operands.w));
  ASSAY_ASSIGN_OR_RETURN(const Window window,
                         MakeWindow(WindowOf(op, operands), operands.spatial));
  ASSAY_ASSIGN_OR_RETURN(
      const TensorView y,
      chain.View(chain.dtype(op.y_zero_point), OutputShape(operands, window)));
  ASSAY_RETURN_IF_ERROR(CheckByte(y));
  ASSAY_ASSIGN_OR_RETURN(const ConvScales scales,
                         ReadScales(chain, op, operands.channels));
  const memory real = chain.Temporary(Retyped(y.Desc(), Type::f32));
  ASSAY_RETURN_IF_ERROR(
      AddRealConvolution(chain, op, operands, window, scales, real));
  ASSAY_RETURN_IF_ERROR(AddBias(chain, op, scales, operands.channels, real));
  return QuantizeResult(chain, op.y_scale, op.y_zero_point, real,
                        chain.Out(op.y, y, y.Desc()));
}

}  // namespace

FamilyPointer MakeInteger(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, AddConvInteger, AddMatMulInteger, AddQLinearConv,
                  AddQLinearMatMul);
}

}  // namespace assay::onednn

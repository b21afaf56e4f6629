// SPDX-License-Identifier: Apache-2.0
//
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <memory>
#include <tuple>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/ops/operands.h"

namespace assay::onednn {

using dnnl::algorithm;

Status CheckByte(const TensorView& view) {
  if (view.dtype == DType::kInt8 || view.dtype == DType::kUint8) {
    return OkStatus();
  }
  return Unsupported(Reason::kDType, "oneDNN's quantized types are int8 and ",
                     "uint8, found ", view.dtype);
}

void QuantizeInto(ChainBuilder& chain, const memory& real, const memory& scale,
                  const memory& zero_point, const memory& out) {
  const memory quotient = chain.Apart(real);
  const memory whole = chain.Apart(real);
  chain.Binary(algorithm::binary_div, real, scale, quotient);
  chain.Eltwise(algorithm::eltwise_round, 0, 0, quotient, whole);
  if (!IsThere(zero_point)) {
    chain.Copy(whole, out);
  } else {
    chain.Binary(algorithm::binary_add, whole, zero_point, out);
  }
}

Result<TensorView> Scale(ChainBuilder& chain, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView scale, chain.View(input));
  if (scale.dtype == DType::kFloat32) return scale;
  return Unsupported(Reason::kDType, "the scale is ", scale.dtype,
                     ", oneDNN takes float32");
}

Result<memory> OneElement(ChainBuilder& chain, Input input, size_t rank) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  if (view.count != 1) {
    return InvalidArgument("input ", input.position, " is ",
                           view.shape.ToString(), ", wanted one element");
  }
  return chain.In(input, view.As(memory::dims(rank, 1)));
}

Status QuantizeResult(ChainBuilder& chain, Input scale, Input zero_point,
                      const memory& real, const memory& out) {
  const size_t rank = real.get_desc().get_dims().size();
  ASSAY_RETURN_IF_ERROR(Scale(chain, scale).status());
  ASSAY_ASSIGN_OR_RETURN(const memory divisor, OneElement(chain, scale, rank));
  ASSAY_ASSIGN_OR_RETURN(const auto shift, OneElement(chain, zero_point, rank));
  QuantizeInto(chain, real, divisor, shift, out);
  return OkStatus();
}

Result<memory> ZeroPoint(ChainBuilder& chain, Input input) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  if (view.count != 1) {
    return Unsupported(Reason::kAttribute, "input ", input.position, " holds ",
                       view.count, " zero points, oneDNN takes one");
  }
  const memory wide =
      chain.Temporary({{1}, memory::data_type::s32, memory::format_tag::a});
  chain.Copy(chain.In(input, view.As({1})), wide);
  return wide;
}

namespace {

/// The extents of a tensor and of its scales, which repeat over them: one for
/// all, one an entry of an axis, or one a block of entries.
struct Granularity {
  memory::dims data, scales;
};

Result<Granularity> ReadGranularity(const Shape& x, const Shape& scale,
                                    int64_t at, int64_t block) {
  const memory::dims& dims = x.dims();
  const int64_t count = kernels::Product(scale.dims(), 0, scale.dims().size());
  if (block == 0 && count == 1) {
    return Granularity{{kernels::Product(dims, 0, dims.size())}, {1}};
  }
  ASSAY_ASSIGN_OR_RETURN(const int axis, kernels::NormalizeAxis(at, x.rank()));
  const auto middle = static_cast<size_t>(axis);
  const int64_t outer = kernels::Product(dims, 0, middle);
  const int64_t inner = kernels::Product(dims, middle + 1, dims.size());
  const int64_t extent = dims[middle];
  if (block == 0) {
    if (scale.rank() != 1 || count != extent) {
      return InvalidArgument("the scale is ", scale.ToString(), ", wanted [",
                             extent, "]");
    }
    return Granularity{{outer, extent, inner}, {1, extent, 1}};
  }
  Shape blocks = x;
  blocks[axis] = block > 0 ? (extent + block - 1) / block : 0;
  if (block < 0 || scale != blocks) {
    return InvalidArgument("the scale is ", scale.ToString(), ", wanted ",
                           blocks.ToString(), " for blocks of ", block);
  }
  if (extent % block != 0) {
    return Unsupported(Reason::kShape, "the last block of ", block,
                       " on an axis of ", extent,
                       " is a smaller one, which no broadcast of oneDNN is");
  }
  return Granularity{{outer, extent / block, block, inner},
                     {outer, extent / block, 1, inner}};
}

/// The zero points, shaped as the scales are; an empty memory for none.
Result<memory> ZeroPoints(ChainBuilder& chain, Input input,
                          const Granularity& by) {
  if (!input.present) return memory();
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  if (view.count != kernels::Product(by.scales, 0, by.scales.size())) {
    return InvalidArgument("the zero point is ", view.shape.ToString(),
                           ", wanted the scale's shape");
  }
  return chain.In(input, view.As(by.scales));
}

/// y = (x - zero point) * scale.
Result<Fill> MakeDequantizeLinear(const op::DequantizeLinear& op,
                                  LoadContext& load) {
  if (load.dtype(op.y) != DType::kFloat32 &&
      load.dtype(op.y) != DType::kUndefined) {
    return Unsupported(Reason::kDType, "the result is ", load.dtype(op.y),
                       ", computed as float32");
  }
  return Fill([=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x));
    ASSAY_ASSIGN_OR_RETURN(const TensorView scale, Scale(chain, op.x_scale));
    ASSAY_ASSIGN_OR_RETURN(
        const Granularity by,
        ReadGranularity(x.shape, scale.shape, op.axis, op.block_size));
    ASSAY_ASSIGN_OR_RETURN(const memory zero_point,
                           ZeroPoints(chain, op.x_zero_point, by));
    const TensorView y =
        MakeView(DType::kFloat32, memory::data_type::f32, x.shape);
    const memory from = chain.In(op.x, x.As(by.data));
    const memory to = chain.Out(op.y, y, y.As(by.data));
    const memory moved = chain.Apart(to);
    if (!IsThere(zero_point)) {
      chain.Copy(from, moved);
    } else {
      chain.Binary(algorithm::binary_sub, from, zero_point, moved);
    }
    chain.Binary(algorithm::binary_mul, moved,
                 chain.In(op.x_scale, scale.As(by.scales)), to);
    return OkStatus();
  });
}

/// The element type of y: the zero point's, the attribute's, or uint8.
DType QuantizedType(const op::QuantizeLinear& op, const LoadContext& load) {
  if (op.y_zero_point.present) return load.dtype(op.y_zero_point);
  if (op.output_dtype == 0) return DType::kUint8;
  return DTypeFromOnnx(static_cast<int>(op.output_dtype))
      .value_or(DType::kUndefined);
}

Result<Fill> MakeQuantizeLinear(const op::QuantizeLinear& op,
                                LoadContext& load) {
  const DType type = QuantizedType(op, load);
  ASSAY_RETURN_IF_ERROR(CheckByte({.dtype = type}));
  return Fill([=](ChainBuilder& chain) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
    ASSAY_ASSIGN_OR_RETURN(const TensorView scale, Scale(chain, op.y_scale));
    ASSAY_ASSIGN_OR_RETURN(
        const Granularity by,
        ReadGranularity(x.shape, scale.shape, op.axis, op.block_size));
    ASSAY_ASSIGN_OR_RETURN(const memory zero_point,
                           ZeroPoints(chain, op.y_zero_point, by));
    ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(type, x.shape));
    const memory::desc data = x.As(by.data);
    const memory real = chain.Temporary(data);
    chain.Copy(chain.In(op.x, data), real);
    QuantizeInto(chain, real, chain.In(op.y_scale, scale.As(by.scales)),
                 zero_point, chain.Out(op.y, y, y.As(by.data)));
    return OkStatus();
  });
}

/// y_scale = (max(0, max x) - min(0, min x)) / 255,
/// y_zero_point = saturate(round(-min(0, min x) / y_scale)).
Status AddDynamicQuantizeLinear(const op::DynamicQuantizeLinear& op,
                                ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  const TensorView one =
      MakeView(DType::kFloat32, memory::data_type::f32, Shape());
  ASSAY_ASSIGN_OR_RETURN(const TensorView zero_view,
                         chain.View(DType::kUint8, Shape()));
  ASSAY_ASSIGN_OR_RETURN(const auto y, chain.View(DType::kUint8, x.shape));
  const memory::desc flat = x.As({x.count});
  const memory from = chain.In(op.x, flat);
  const memory low = chain.Temporary(one.Desc());
  const memory high = chain.Temporary(one.Desc());
  const memory range = chain.Apart(high);
  const memory scale = chain.Out(op.y_scale, one, one.Desc());
  const memory zero = chain.Constant(0);
  for (const auto& [to, kind, bound] :
       {std::tuple(low, algorithm::reduction_min, algorithm::binary_min),
        std::tuple(high, algorithm::reduction_max, algorithm::binary_max)}) {
    const memory end = chain.Apart(to);
    if (x.count == 1) {
      chain.Copy(from, end);
    } else {
      chain.Reduce(kind, from, end);
    }
    chain.Binary(bound, end, zero, to);
  }
  chain.Binary(algorithm::binary_sub, high, low, range);
  chain.Binary(algorithm::binary_div, range, chain.Constant(255), scale);
  const memory negated = chain.Apart(low);
  chain.Eltwise(algorithm::eltwise_linear, -1, 0, low, negated);
  const memory zero_point =
      chain.Out(op.y_zero_point, zero_view, zero_view.Desc());
  QuantizeInto(chain, negated, scale, {}, zero_point);
  const memory real = chain.Temporary(flat);
  chain.Copy(from, real);
  QuantizeInto(chain, real, scale, zero_point,
               chain.Out(op.y, y, y.As({y.count})));
  return OkStatus();
}

}  // namespace

FamilyPointer MakeQuantization(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, MakeDequantizeLinear, AddDynamicQuantizeLinear,
                  MakeQuantizeLinear);
}

}  // namespace assay::onednn

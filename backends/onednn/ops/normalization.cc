// SPDX-License-Identifier: Apache-2.0
//
// BatchNormalization, the operators that are a layer normalization of the
// right view (layer, instance and group), RMSNormalization and LRN, and Softmax
// and LogSoftmax along one axis.

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;
using Flags = dnnl::normalization_flags;

Status CheckFloat32Input(Input input, const TensorView& view) {
  if (view.dtype == DType::kFloat32) return OkStatus();
  return Unsupported(Reason::kDType, "input ", input.position, " is ",
                     view.dtype,
                     ", oneDNN takes statistics, scale and shift as float32");
}

/// A float32 vector of `count` elements, whatever its rank.
Result<memory> Vector(ChainBuilder& chain, Input input, int64_t count) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  ASSAY_RETURN_IF_ERROR(CheckFloat32Input(input, view));
  if (view.count != count) {
    return Unsupported(Reason::kShape, "input ", input.position, " is ",
                       view.shape.ToString(), ", oneDNN takes ", count,
                       " elements");
  }
  return chain.In(input, view.As({count}));
}

/// Batch, channels and, where there are any, all elements of a channel.
Result<memory::dims> BatchExtents(const Shape& shape) {
  if (shape.rank() < 2) {
    return InvalidArgument("x is ", shape.ToString(),
                           ", wanted a rank of at least 2");
  }
  memory::dims extents = {shape[0], shape[1]};
  if (shape.rank() > 2) {
    extents.push_back(kernels::Product(shape.dims(), 2, shape.dims().size()));
  }
  return extents;
}

/// running = momentum * input + (1 - momentum) * batch.
Status AddRunning(ChainBuilder& chain, Input input, Output output,
                  const memory& batch, float momentum) {
  if (!output.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  const memory::desc desc = view.As({view.count});
  chain.Sum({chain.In(input, desc), batch}, {momentum, 1 - momentum},
            chain.Out(output, view, desc));
  return OkStatus();
}

/// With training_mode the statistics are the batch's, population variance in
/// ONNX as in oneDNN.
Status AddBatchNormalization(const op::BatchNormalization& op,
                             ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const memory::dims extents, BatchExtents(x.shape));
  const int64_t channels = extents[1];
  ASSAY_ASSIGN_OR_RETURN(const memory scale, Vector(chain, op.scale, channels));
  ASSAY_ASSIGN_OR_RETURN(const memory shift, Vector(chain, op.b, channels));
  ASSAY_ASSIGN_OR_RETURN(memory mean, Vector(chain, op.input_mean, channels));
  ASSAY_ASSIGN_OR_RETURN(auto variance, Vector(chain, op.input_var, channels));
  const bool training = op.training_mode != 0;
  auto flags = Flags::use_scale | Flags::use_shift;
  if (training) {
    mean = chain.Temporary(mean.get_desc());
    variance = chain.Temporary(variance.get_desc());
  } else {
    flags = flags | Flags::use_global_stats;
  }
  const memory::desc data = x.As(extents);
  chain.Add<dnnl::batch_normalization_forward>(
      {chain.engine(),
       training ? dnnl::prop_kind::forward_training : chain.prop(), data, data,
       op.epsilon, flags, ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(op.x, data)},
       {DNNL_ARG_MEAN, mean},
       {DNNL_ARG_VARIANCE, variance},
       {DNNL_ARG_SCALE, scale},
       {DNNL_ARG_SHIFT, shift},
       {DNNL_ARG_DST, chain.Out(op.y, x, data)}});
  if (!training) return OkStatus();
  ASSAY_RETURN_IF_ERROR(
      AddRunning(chain, op.input_mean, op.running_mean, mean, op.momentum));
  return AddRunning(chain, op.input_var, op.running_var, variance, op.momentum);
}

/// The view [outer, inner] that is normalized along its last axis, and the
/// shape of its statistics.
struct Rows {
  memory::dims extents;
  Shape stats;
  int outer = 0;  // axes
};

Result<Rows> RowsFrom(const Shape& shape, int64_t from) {
  ASSAY_ASSIGN_OR_RETURN(const int axis,
                         kernels::NormalizeAxis(from, shape.rank()));
  const memory::dims& dims = shape.dims();
  const auto at = static_cast<size_t>(axis);
  std::vector<int64_t> stats = dims;
  std::fill(stats.begin() + axis, stats.end(), 1);
  return Rows{
      {kernels::Product(dims, 0, at), kernels::Product(dims, at, dims.size())},
      Shape(stats),
      axis};
}

/// The shape without the extents of 1 that it begins with.
Shape Stripped(const Shape& shape) {
  const auto first =
      std::ranges::find_if(shape, [](int64_t extent) { return extent != 1; });
  return Shape(std::vector<int64_t>(first, shape.end()));
}

/// True where an input, if there is one, has an element for each of a row.
Result<bool> IsRow(ChainBuilder& chain, Input input, const Rows& rows,
                   const Shape& x) {
  if (!input.present) return true;
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  const int of_row = x.rank() - rows.outer;
  return Stripped(view.shape) ==
         Stripped(Shape(std::vector<int64_t>(x.end() - of_row, x.end())));
}

/// An input that repeats over x, with as many extents as that has.
Result<memory> Repeated(ChainBuilder& chain, Input input, const Shape& x) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(input));
  ASSAY_RETURN_IF_ERROR(CheckFloat32Input(input, view));
  if (!kernels::BroadcastsTo(view.shape, x)) {
    return InvalidArgument(
        "input ", input.position, " is ", view.shape.ToString(),
        ", wanted a shape that broadcasts to ", x.ToString());
  }
  memory::dims extents = view.shape.dims();
  extents.insert(extents.begin(),
                 static_cast<size_t>(x.rank()) - extents.size(), 1);
  return chain.In(input, view.As(extents));
}

/// Memory for normalized rows that are scaled afterwards: backward needs them.
memory Normalized(ChainBuilder& chain, Output y, const TensorView& x,
                  const memory::desc& rows) {
  return chain.training() ? chain.Temporary(rows) : chain.Out(y, x, rows);
}

/// y = normal * scale + shift, which repeat over x.
Status AddRepeated(ChainBuilder& chain, const memory& normal,
                   const TensorView& x, Input scale, Input shift, Output y) {
  const memory out = chain.Out(y, x, x.Desc());
  const memory from =
      chain.training() ? chain.Redescribe(normal, x.Desc()) : out;
  const memory scaled = shift.present ? chain.Apart(out) : out;
  ASSAY_ASSIGN_OR_RETURN(const memory factor, Repeated(chain, scale, x.shape));
  chain.Binary(algorithm::binary_mul, from, factor, scaled);
  if (!shift.present) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const memory term, Repeated(chain, shift, x.shape));
  chain.Binary(algorithm::binary_add, scaled, term, out);
  return OkStatus();
}

/// The mean and 1 / sqrt(variance + epsilon) go to optional outputs.
Status AddLayerNormalization(const op::LayerNormalization& op,
                             ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const Rows rows, RowsFrom(x.shape, op.axis));
  ASSAY_ASSIGN_OR_RETURN(bool of_rows, IsRow(chain, op.scale, rows, x.shape));
  ASSAY_ASSIGN_OR_RETURN(const bool shifts_rows,
                         IsRow(chain, op.b, rows, x.shape));
  of_rows = of_rows && shifts_rows;
  if (!of_rows) ASSAY_RETURN_IF_ERROR(CheckFloat32(x));
  auto flags = Flags::none;
  memory scale, shift;
  if (of_rows) {
    ASSAY_ASSIGN_OR_RETURN(scale, Vector(chain, op.scale, rows.extents[1]));
    flags = Flags::use_scale;
  }
  if (of_rows && op.b.present) {
    ASSAY_ASSIGN_OR_RETURN(shift, Vector(chain, op.b, rows.extents[1]));
    flags = flags | Flags::use_shift;
  }
  ASSAY_ASSIGN_OR_RETURN(const TensorView stats,
                         chain.View(DType::kFloat32, rows.stats));
  const memory::desc data = x.As(rows.extents);
  const memory::desc stat = stats.As({rows.extents[0]});
  const memory deviation = chain.Out(op.inv_std_dev, stats, stat);
  const memory variance = chain.Apart(deviation);
  const memory normal =
      of_rows ? chain.Out(op.y, x, data) : Normalized(chain, op.y, x, data);
  chain.Add<dnnl::layer_normalization_forward>(
      {chain.engine(), dnnl::prop_kind::forward_training, data, data, stat,
       op.epsilon, flags, ChainBuilder::attr()},
      {{DNNL_ARG_SCALE, scale},
       {DNNL_ARG_SHIFT, shift},
       {DNNL_ARG_SRC, chain.In(op.x, data)},
       {DNNL_ARG_DST, normal},
       {DNNL_ARG_MEAN, chain.Out(op.mean, stats, stat)},
       {DNNL_ARG_VARIANCE, variance}});
  if (!of_rows) {
    ASSAY_RETURN_IF_ERROR(AddRepeated(chain, normal, x, op.scale, op.b, op.y));
  }
  if (!op.inv_std_dev.present) return OkStatus();
  const memory moved = chain.Apart(deviation);
  chain.Eltwise(algorithm::eltwise_linear, 1, op.epsilon, variance, moved);
  chain.Eltwise(algorithm::eltwise_pow, 1, -0.5F, moved, deviation);
  return OkStatus();
}

/// Every group of channels of every batch entry is a row; scale and bias are
/// one a channel. `groups` 0 stands for one group a channel.
Status AddGrouped(ChainBuilder& chain, Input x, Input scale, Input bias,
                  Output y, int64_t groups, float epsilon) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(memory::dims extents, BatchExtents(view.shape));
  const int64_t channels = extents[1];
  const int64_t count = groups == 0 ? channels : groups;
  if (count < 1 || channels % count != 0) {
    return InvalidArgument("num_groups is ", count, " over ", channels,
                           " channels");
  }
  ASSAY_RETURN_IF_ERROR(Vector(chain, scale, channels).status());
  ASSAY_RETURN_IF_ERROR(Vector(chain, bias, channels).status());
  const int64_t outer = extents[0] * count;
  const memory::desc rows =
      view.As({outer, outer == 0 ? 0 : view.count / outer});
  extents.resize(3, 1);
  const memory::desc data = view.As(extents);
  memory::dims per_channel = {1, channels, 1};
  const memory::desc vector = {per_channel, memory::data_type::f32,
                               kernels::RowMajorStrides(per_channel)};
  const memory::desc stat = {{outer}, memory::data_type::f32, {1}};
  const memory out = chain.Out(y, view, data);
  const memory normal = Normalized(chain, y, view, rows);
  const auto statistic = [&] {
    return chain.training() ? chain.Temporary(stat) : memory();
  };
  chain.Add<dnnl::layer_normalization_forward>(
      {chain.engine(), chain.prop(), rows, rows, stat, epsilon, Flags::none,
       ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(x, rows)},
       {DNNL_ARG_DST, normal},
       {DNNL_ARG_MEAN, statistic()},
       {DNNL_ARG_VARIANCE, statistic()}});
  const memory scaled = chain.Apart(out);
  chain.Binary(algorithm::binary_mul,
               chain.training() ? chain.Redescribe(normal, data) : out,
               chain.In(scale, vector), scaled);
  chain.Binary(algorithm::binary_add, scaled, chain.In(bias, vector), out);
  return OkStatus();
}

Status AddGroupNormalization(const op::GroupNormalization& op,
                             ChainBuilder& chain) {
  return AddGrouped(chain, op.x, op.scale, op.bias, op.y, op.num_groups,
                    op.epsilon);
}

Status AddInstanceNormalization(const op::InstanceNormalization& op,
                                ChainBuilder& chain) {
  return AddGrouped(chain, op.input, op.scale, op.b, op.output, 0, op.epsilon);
}

/// oneDNN's window is symmetric; ONNX's has the odd element behind.
Status AddLRN(const op::LRN& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(memory::dims extents, BatchExtents(x.shape));
  if (op.size < 1) return InvalidArgument("size is ", op.size);
  if (op.size % 2 == 0) {
    return Unsupported(Reason::kAttribute, "size is ", op.size,
                       ", oneDNN's window has an odd size");
  }
  extents.resize(4, 1);
  const memory::desc data = x.As(extents);
  chain.Add<dnnl::lrn_forward>(
      {chain.engine(), chain.prop(), algorithm::lrn_across_channels, data, data,
       op.size, op.alpha, op.beta, op.bias, ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(op.x, data)},
       {DNNL_ARG_DST, chain.Out(op.y, x, data)}});
  return OkStatus();
}

/// x / sqrt(mean(x^2) + epsilon) * scale along the axes from `axis` on.
Status AddRMSNormalization(const op::RMSNormalization& op,
                           ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  ASSAY_ASSIGN_OR_RETURN(const Rows rows, RowsFrom(x.shape, op.axis));
  const memory::dims& extents = rows.extents;
  ASSAY_ASSIGN_OR_RETURN(const bool of_rows,
                         IsRow(chain, op.scale, rows, x.shape));
  ASSAY_ASSIGN_OR_RETURN(const TensorView scale, chain.View(op.scale));
  ASSAY_RETURN_IF_ERROR(CheckFloat32Input(op.scale, scale));
  const memory::desc data = x.As(extents);
  const TensorView stats = MakeView(x.dtype, x.type, rows.stats);
  const memory from = chain.In(op.x, data);
  const memory to = chain.Out(op.y, x, data);
  const memory squares = chain.Apart(to);
  const memory stat = chain.Temporary(stats.As({extents[0], 1}));
  const memory moved = chain.Apart(stat);
  const memory deviation = chain.Apart(stat);
  const memory normal = chain.Apart(to);
  chain.Eltwise(algorithm::eltwise_square, 0, 0, from, squares);
  if (extents[1] == 1) {
    chain.Copy(squares, stat);
  } else {
    chain.Reduce(algorithm::reduction_mean, squares, stat);
  }
  chain.Eltwise(algorithm::eltwise_linear, 1, op.epsilon, stat, moved);
  chain.Eltwise(algorithm::eltwise_pow, 1, -0.5F, moved, deviation);
  chain.Binary(algorithm::binary_mul, from, deviation, normal);
  if (!of_rows) {
    return AddRepeated(chain, normal, x, op.scale, Input(), op.y);
  }
  chain.Binary(algorithm::binary_mul, normal,
               chain.In(op.scale, scale.As({1, extents[1]})), to);
  return OkStatus();
}

/// The axes before and behind are one axis each; a last axis goes without the
/// latter, which is the library's fast form.
template <class Op, algorithm kKind>
Status AddSoftmax(const Op& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const auto view, chain.View(op.input, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const int axis,
                         kernels::NormalizeAxis(op.axis, view.shape.rank()));
  const memory::dims& dims = view.shape.dims();
  const auto middle = static_cast<size_t>(axis);
  memory::dims extents = {kernels::Product(dims, 0, middle), dims[middle]};
  if (middle + 1 < dims.size()) {
    extents.push_back(kernels::Product(dims, middle + 1, dims.size()));
  }
  const memory::desc desc = view.As(extents);
  chain.Add<dnnl::softmax_forward>(
      {chain.engine(), chain.prop(), kKind, desc, desc, 1,
       ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(op.input, desc)},
       {DNNL_ARG_DST, chain.Out(op.output, view, desc)}});
  return OkStatus();
}

}  // namespace

FamilyPointer MakeNormalization(const std::shared_ptr<const Device>& device) {
  return FamilyOf(device, AddBatchNormalization, AddGroupNormalization,
                  AddInstanceNormalization, AddLayerNormalization, AddLRN,
                  AddRMSNormalization,
                  AddSoftmax<op::LogSoftmax, algorithm::softmax_log>,
                  AddSoftmax<op::Softmax, algorithm::softmax_accurate>);
}

}  // namespace assay::onednn

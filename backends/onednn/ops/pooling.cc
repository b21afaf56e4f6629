// SPDX-License-Identifier: Apache-2.0
//
// Pooling over one, two and three spatial axes, and over all of them at once.
#include <memory>
#include <span>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/ops/operands.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// The window over x, and the view of y.
template <class Op>
Status Resolve(ChainBuilder& chain, const Op& op, const TensorView& x,
               Window& window, TensorView& y) {
  if (x.shape.rank() < 3) {
    return InvalidArgument("x is ", x.shape.ToString(),
                           ", wanted a rank of at least 3");
  }
  if (x.shape.rank() > 5) {
    return Unsupported(Reason::kShape, "x is ", x.shape.ToString(),
                       ", oneDNN pools over 1 to 3 spatial axes");
  }
  if (op.kernel_shape.empty()) return InvalidArgument("no kernel_shape");
  ASSAY_ASSIGN_OR_RETURN(window,
                         MakeWindow({.kernel = op.kernel_shape,
                                     .strides = op.strides,
                                     .dilations = op.dilations,
                                     .pads = op.pads,
                                     .auto_pad = op.auto_pad,
                                     .ceil_mode = op.ceil_mode != 0},
                                    std::span(x.shape.dims()).subspan(2)));
  std::vector<int64_t> dims = {x.shape[0], x.shape[1]};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  ASSAY_ASSIGN_OR_RETURN(y, chain.View(x.dtype, Shape(dims)));
  return OkStatus();
}

void AddPooling(ChainBuilder& chain, algorithm kind, const Window& window,
                const memory& from, const memory& to) {
  chain.Add<dnnl::pooling_forward>(
      {chain.engine(), chain.prop(), kind, from.get_desc(), to.get_desc(),
       window.strides, window.kernel, window.dilations, window.pads_begin,
       window.pads_end, ChainBuilder::attr()},
      {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
}

/// The share of a window of y that lies in x and its declared padding, of the
/// whole window: the average of ones over them. [1, 1, spatial extents of y].
memory CountedPart(ChainBuilder& chain, const TensorView& x,
                   const TensorView& y, Window window) {
  const size_t rank = window.kernel.size();
  memory::dims from = {1, 1};
  memory::dims to = {1, 1};
  for (size_t i = 0; i < rank; ++i) {
    const int64_t end = window.stated_end[i];
    from.push_back(x.shape.dims()[2 + i] + window.pads_begin[i] + end);
    to.push_back(y.shape.dims()[2 + i]);
    window.pads_begin[i] = 0;
    window.pads_end[i] -= end;
  }
  const auto desc = [](const memory::dims& dims) {
    return memory::desc(dims, memory::data_type::f32,
                        kernels::RowMajorStrides(dims));
  };
  const memory part = chain.Temporary(desc(to));
  AddPooling(chain, algorithm::pooling_avg_include_padding, window,
             chain.Ones(desc(from)), part);
  return part;
}

/// oneDNN counts either the elements inside, or all of the window; ONNX
/// leaves out of the latter what lies beyond the declared padding.
Status AddAveragePool(const op::AveragePool& op, ChainBuilder& chain) {
  const bool padded = op.count_include_pad != 0;
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  Window window;
  TensorView y;
  ASSAY_RETURN_IF_ERROR(Resolve(chain, op, x, window, y));
  const memory out = chain.Out(op.y, y, y.Desc());
  const bool shared = padded && window.overhangs;
  const memory average = shared ? chain.Apart(out) : out;
  AddPooling(chain,
             padded ? algorithm::pooling_avg_include_padding
                    : algorithm::pooling_avg_exclude_padding,
             window, chain.In(op.x, x.Desc()), average);
  if (!shared) return OkStatus();
  ASSAY_RETURN_IF_ERROR(CheckFloat32(x));
  chain.Binary(algorithm::binary_div, average, CountedPart(chain, x, y, window),
               out);
  return OkStatus();
}

/// All spatial axes as one, pooled by one window.
template <class Op, algorithm kKind>
Status AddGlobal(const Op& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(op.x, CheckFloat));
  const int rank = view.shape.rank();
  if (rank < 2) {
    return InvalidArgument("x is ", view.shape.ToString(),
                           ", wanted a rank of at least 2");
  }
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[0] = view.shape[0];
  dims[1] = view.shape[1];
  const int64_t size =
      kernels::Product(view.shape.dims(), 2, view.shape.dims().size());
  ASSAY_ASSIGN_OR_RETURN(const TensorView pooled,
                         chain.View(view.dtype, Shape(dims)));
  const Window window = {.kernel = {size},
                         .strides = {1},
                         .dilations = {0},
                         .pads_begin = {0},
                         .pads_end = {0},
                         .output = {1}};
  AddPooling(
      chain, kKind, window,
      chain.In(op.x, view.As({view.shape[0], view.shape[1], size})),
      chain.Out(op.y, pooled, pooled.As({view.shape[0], view.shape[1], 1})));
  return OkStatus();
}

/// (sum |x|^p)^(1/p) over all spatial axes: oneDNN's reduction to a norm.
Status AddGlobalLpPool(const op::GlobalLpPool& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat));
  const int rank = x.shape.rank();
  if (rank < 3 || op.p < 1) {
    return InvalidArgument("x is ", x.shape.ToString(), " and p ", op.p,
                           ", wanted a rank of at least 3 and p of 1");
  }
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[0] = x.shape[0];
  dims[1] = x.shape[1];
  const int64_t rows = dims[0] * dims[1];
  const int64_t size =
      kernels::Product(x.shape.dims(), 2, x.shape.dims().size());
  ASSAY_ASSIGN_OR_RETURN(const TensorView y, chain.View(x.dtype, Shape(dims)));
  const memory from = chain.In(op.x, x.As({rows, size}));
  const memory to = chain.Out(op.y, y, y.As({rows, 1}));
  if (size == 1) {
    chain.Eltwise(algorithm::eltwise_abs, 0, 0, from, to);
  } else {
    chain.Reduce(algorithm::reduction_norm_lp_sum, from, to,
                 static_cast<float>(op.p));
  }
  return OkStatus();
}

/// (sum |x|^p)^(1/p): the sum is the window's size times the average over the
/// whole window, in which padding counts as zeros.
Status AddLpPool(const op::LpPool& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckFloat32));
  Window window;
  TensorView y;
  ASSAY_RETURN_IF_ERROR(Resolve(chain, op, x, window, y));
  if (op.p < 1) return InvalidArgument("p is ", op.p, ", wanted at least 1");
  const auto p = static_cast<float>(op.p);
  const memory whole = chain.Temporary(x.Desc());
  const memory power = chain.Apart(whole);
  const memory out = chain.Out(op.y, y, y.Desc());
  const memory average = chain.Apart(out);
  const memory sum = chain.Apart(out);
  chain.Eltwise(algorithm::eltwise_abs, 0, 0, chain.In(op.x, x.Desc()), whole);
  chain.Eltwise(algorithm::eltwise_pow, 1, p, whole, power);
  AddPooling(chain, algorithm::pooling_avg_include_padding, window, power,
             average);
  const int64_t size = kernels::Product(window.kernel, 0, window.kernel.size());
  chain.Eltwise(algorithm::eltwise_linear, static_cast<float>(size), 0, average,
                sum);
  chain.Eltwise(algorithm::eltwise_pow, 1, 1 / p, sum, out);
  return OkStatus();
}

Status AddMaxPool(const op::MaxPool& op, ChainBuilder& chain) {
  if (op.indices.present) {
    return Unsupported(Reason::kAttribute,
                       "the output Indices, which oneDNN keeps in a "
                       "workspace of its own form");
  }
  ASSAY_ASSIGN_OR_RETURN(const TensorView x, chain.View(op.x, CheckExact));
  Window window;
  TensorView y;
  ASSAY_RETURN_IF_ERROR(Resolve(chain, op, x, window, y));
  AddPooling(chain, algorithm::pooling_max, window, chain.In(op.x, x.Desc()),
             chain.Out(op.y, y, y.Desc()));
  return OkStatus();
}

}  // namespace

FamilyPointer MakePooling(const std::shared_ptr<const Device>& device) {
  return FamilyOf(
      device, AddAveragePool,
      AddGlobal<op::GlobalAveragePool, algorithm::pooling_avg_exclude_padding>,
      AddGlobalLpPool, AddGlobal<op::GlobalMaxPool, algorithm::pooling_max>,
      AddLpPool, AddMaxPool);
}

}  // namespace assay::onednn

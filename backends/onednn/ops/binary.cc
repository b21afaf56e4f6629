// SPDX-License-Identifier: Apache-2.0
//
// Operators of two and more operands under multidirectional broadcasting:
// oneDNN's binary primitive, and its sum where shapes are equal.
//
// Booleans are bytes of 0 and 1, over which And is the minimum, Or the maximum
// and Xor inequality. Integers of 8 bits are computed in float32, exactly, and
// saturate; those of 32 bits are declined, since float32 holds 24 bits.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// The algorithm with its operands exchanged; undef where there is none.
algorithm Mirrored(algorithm kind) {
  switch (kind) {
    case algorithm::binary_ge:
      return algorithm::binary_le;
    case algorithm::binary_gt:
      return algorithm::binary_lt;
    case algorithm::binary_le:
      return algorithm::binary_ge;
    case algorithm::binary_lt:
      return algorithm::binary_gt;
    case algorithm::binary_div:
    case algorithm::binary_sub:
      return algorithm::undef;
    default:
      return kind;
  }
}

/// One binary primitive over axes that stand for the broadcasting. Only the
/// second operand may be the smaller one in oneDNN's fast path.
void AddBinary(ChainBuilder& chain, algorithm kind,
               const kernels::Broadcast& axes, memory a, memory b,
               const memory& out) {
  if (axes.a != axes.out && axes.b == axes.out &&
      Mirrored(kind) != algorithm::undef) {
    kind = Mirrored(kind);
    std::swap(a, b);
  }
  chain.Binary(kind, a, b, out);
}

Status Combine(ChainBuilder& chain, Input a, Input b, Output out,
               algorithm kind, DType result) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView left, chain.View(a, CheckExact));
  ASSAY_ASSIGN_OR_RETURN(const TensorView right, chain.View(b, CheckExact));
  ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
                         kernels::BroadcastShapes(left.shape, right.shape));
  ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(result, axes.shape));
  AddBinary(chain, kind, axes, chain.In(a, left.As(axes.a)),
            chain.In(b, right.As(axes.b)),
            chain.Out(out, view, view.As(axes.out)));
  return OkStatus();
}

/// A row of an operator of two; its result has the first's type if no other.
template <class Op>
auto Pairs(algorithm kind, std::optional<DType> result = {}) {
  return On<Op>([=](const Op& op, ChainBuilder& chain) {
    return Combine(chain, op.a, op.b, op.c, kind,
                   result.value_or(chain.dtype(op.a)));
  });
}

/// oneDNN rounds the quotient of integers, ONNX truncates.
Status AddDiv(const op::Div& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView a, chain.View(op.a, CheckFloat));
  return Combine(chain, op.a, op.b, op.c, algorithm::binary_div, a.dtype);
}

/// Every operand's view, and the shape that they broadcast to together.
Status ViewAll(ChainBuilder& chain, VariadicInput inputs,
               ChainBuilder::TypeCheck check, std::vector<TensorView>& views,
               Shape& shape) {
  for (int i = 0; i < inputs.count; ++i) {
    ASSAY_ASSIGN_OR_RETURN(TensorView view, chain.View(inputs[i], check));
    ASSAY_ASSIGN_OR_RETURN(const kernels::Broadcast axes,
                           kernels::BroadcastShapes(shape, view.shape));
    shape = axes.shape;
    views.push_back(std::move(view));
  }
  if (views.empty()) return InvalidArgument("there is no operand");
  return OkStatus();
}

/// All of one shape: oneDNN's sum, which rounds once. Those beyond what one
/// takes are added to its result, which may be its first source.
void AddSum(ChainBuilder& chain, VariadicInput inputs, const TensorView& view,
            const memory& out) {
  const memory::desc flat = view.As({view.count});
  for (int next = 0; next < inputs.count;) {
    std::vector<ChainBuilder::Argument> arguments;
    if (next > 0) arguments.push_back({DNNL_ARG_MULTIPLE_SRC, out});
    while (next < inputs.count && std::ssize(arguments) < kMostSources) {
      const auto number = static_cast<int>(arguments.size());
      arguments.push_back(
          {DNNL_ARG_MULTIPLE_SRC + number, chain.In(inputs[next++], flat)});
    }
    const size_t count = arguments.size();
    arguments.push_back({DNNL_ARG_DST, out});
    chain.Add<dnnl::sum>(
        {chain.engine(), flat, std::vector<float>(count, 1.0F),
         std::vector<memory::desc>(count, flat), ChainBuilder::attr()},
        arguments);
  }
}

/// ((x0 . x1) . x2) ...: the last step writes the output, which has a shape of
/// its own from the start; the others write memory of the chain's.
Status FoldInto(ChainBuilder& chain, VariadicInput inputs, Output out,
                algorithm kind) {
  std::vector<TensorView> views;
  Shape shape;
  ASSAY_RETURN_IF_ERROR(ViewAll(chain, inputs, CheckExact, views, shape));
  ASSAY_ASSIGN_OR_RETURN(const TensorView result,
                         chain.View(views[0].dtype, shape));
  const auto same = [&](const TensorView& view) { return view.shape == shape; };
  if (kind == algorithm::binary_add &&
      std::all_of(views.begin(), views.end(), same)) {
    AddSum(chain, inputs, result,
           chain.Out(out, result, result.As({result.count})));
    return OkStatus();
  }
  TensorView left = views[0];
  memory data = chain.In(inputs[0], left.Desc());
  if (views.size() == 1) {
    chain.Copy(data, chain.Out(out, result, result.Desc()));
  }
  for (size_t i = 1; i < views.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        const kernels::Broadcast axes,
        kernels::BroadcastShapes(left.shape, views[i].shape));
    const TensorView both = MakeView(left.dtype, left.type, axes.shape);
    const memory from = i == 1 ? chain.In(inputs[0], left.As(axes.a))
                               : chain.Redescribe(data, left.As(axes.a));
    data = i + 1 == views.size() ? chain.Out(out, result, both.As(axes.out))
                                 : chain.Temporary(both.As(axes.out));
    AddBinary(chain, kind, axes, from,
              chain.In(inputs[static_cast<int>(i)], views[i].As(axes.b)), data);
    left = both;
  }
  return OkStatus();
}

/// The sum, divided in place.
Status AddMean(const op::Mean& op, ChainBuilder& chain) {
  std::vector<TensorView> views;
  Shape shape;
  ASSAY_RETURN_IF_ERROR(ViewAll(chain, op.data_0, CheckFloat32, views, shape));
  ASSAY_RETURN_IF_ERROR(
      FoldInto(chain, op.data_0, op.mean, algorithm::binary_add));
  const TensorView view = MakeView(views[0].dtype, views[0].type, shape);
  const memory mean = chain.Out(op.mean, view, view.As({view.count}));
  chain.Binary(algorithm::binary_div, mean,
               chain.Constant(static_cast<float>(op.data_0.count)), mean);
  return OkStatus();
}

}  // namespace

FamilyPointer MakeBinary(std::shared_ptr<const Device> device) {
  return FamilyOf(
      std::move(device), Pairs<op::Add>(algorithm::binary_add),
      Pairs<op::And>(algorithm::binary_min, DType::kBool), AddDiv,
      Pairs<op::Equal>(algorithm::binary_eq, DType::kBool),
      Pairs<op::Greater>(algorithm::binary_gt, DType::kBool),
      Pairs<op::GreaterOrEqual>(algorithm::binary_ge, DType::kBool),
      Pairs<op::Less>(algorithm::binary_lt, DType::kBool),
      Pairs<op::LessOrEqual>(algorithm::binary_le, DType::kBool),
      On<op::Max>([](const op::Max& op, ChainBuilder& chain) {
        return FoldInto(chain, op.data_0, op.max, algorithm::binary_max);
      }),
      AddMean, On<op::Min>([](const op::Min& op, ChainBuilder& chain) {
        return FoldInto(chain, op.data_0, op.min, algorithm::binary_min);
      }),
      Pairs<op::Mul>(algorithm::binary_mul),
      Pairs<op::Or>(algorithm::binary_max, DType::kBool),
      Pairs<op::Sub>(algorithm::binary_sub),
      On<op::Sum>([](const op::Sum& op, ChainBuilder& chain) {
        return FoldInto(chain, op.data_0, op.sum, algorithm::binary_add);
      }),
      Pairs<op::Xor>(algorithm::binary_ne, DType::kBool));
}

}  // namespace assay::onednn

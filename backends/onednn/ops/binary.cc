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
  static constexpr std::pair<algorithm, algorithm> kMirrored[] = {
      {algorithm::binary_ge, algorithm::binary_le},
      {algorithm::binary_gt, algorithm::binary_lt},
      {algorithm::binary_le, algorithm::binary_ge},
      {algorithm::binary_lt, algorithm::binary_gt},
      {algorithm::binary_div, algorithm::undef},
      {algorithm::binary_sub, algorithm::undef}};
  for (const auto& [from, to] : kMirrored) {
    if (from == kind) return to;
  }
  return kind;
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
  std::vector<memory> terms;
  for (int next = 0; next < inputs.count;) {
    while (next < inputs.count && std::ssize(terms) < kMostSources) {
      terms.push_back(chain.In(inputs[next++], flat));
    }
    const memory sum = next < inputs.count ? chain.Apart(out) : out;
    chain.Sum(terms, std::vector<float>(terms.size(), 1.0F), sum);
    terms = {sum};
  }
}

/// ((x0 . x1) . x2) ..., over `divisor`: the last step writes the output, which
/// has a shape of its own from the start; the others write memory of the
/// chain's.
Status FoldInto(ChainBuilder& chain, VariadicInput inputs, Output out,
                algorithm kind, float divisor = 1) {
  std::vector<TensorView> views;
  Shape shape;
  ASSAY_RETURN_IF_ERROR(ViewAll(chain, inputs, CheckExact, views, shape));
  ASSAY_ASSIGN_OR_RETURN(const auto result, chain.View(views[0].dtype, shape));
  const auto write = [&](const memory::desc& desc, const auto& fold) {
    const memory to = chain.Out(out, result, desc);
    const memory folded = divisor == 1 ? to : chain.Apart(to);
    fold(folded);
    if (divisor == 1) return;
    chain.Binary(algorithm::binary_div, folded,
                 chain.Constant(divisor, desc.get_dims().size()), to);
  };
  const auto same = [&](const TensorView& view) { return view.shape == shape; };
  if (kind == algorithm::binary_add &&
      std::all_of(views.begin(), views.end(), same)) {
    write(result.As({result.count}),
          [&](const memory& to) { AddSum(chain, inputs, result, to); });
    return OkStatus();
  }
  TensorView left = views[0];
  memory data = chain.In(inputs[0], left.Desc());
  if (views.size() == 1) {
    write(result.Desc(), [&](const memory& to) { chain.Copy(data, to); });
  }
  for (size_t i = 1; i < views.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        const kernels::Broadcast axes,
        kernels::BroadcastShapes(left.shape, views[i].shape));
    const TensorView both = MakeView(left.dtype, left.type, axes.shape);
    const memory from = i == 1 ? chain.In(inputs[0], left.As(axes.a))
                               : chain.Redescribe(data, left.As(axes.a));
    const memory right =
        chain.In(inputs[static_cast<int>(i)], views[i].As(axes.b));
    const auto add = [&](const memory& to) {
      AddBinary(chain, kind, axes, from, right, to);
    };
    if (i + 1 == views.size()) {
      write(both.As(axes.out), add);
    } else {
      data = chain.Temporary(both.As(axes.out));
      add(data);
    }
    left = both;
  }
  return OkStatus();
}

/// The sum, divided.
Status AddMean(const op::Mean& op, ChainBuilder& chain) {
  for (int i = 0; i < op.data_0.count; ++i) {
    ASSAY_RETURN_IF_ERROR(chain.View(op.data_0[i], CheckFloat32).status());
  }
  return FoldInto(chain, op.data_0, op.mean, algorithm::binary_add,
                  static_cast<float>(op.data_0.count));
}

}  // namespace

FamilyPointer MakeBinary(const std::shared_ptr<const Device>& device) {
  return FamilyOf(
      device, Pairs<op::Add>(algorithm::binary_add),
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

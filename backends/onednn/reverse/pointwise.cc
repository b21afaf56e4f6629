// SPDX-License-Identifier: Apache-2.0
//
// Backward of eltwise, binary and prelu.
#include <algorithm>
#include <iterator>

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {

using dnnl::algorithm;

bool EltwisePasses(const Taped& entry) {
  return DescOf<dnnl::eltwise_forward>(entry).get_algorithm() !=
         algorithm::eltwise_round;
}

Status ReverseEltwise(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::eltwise_forward>(entry);
  using Backward = dnnl::eltwise_backward;
  return ReverseUnary<Backward>(
      reverse, entry, {DNNL_ARG_SRC}, [&](const auto& dx, const auto& dy) {
        return Backward::primitive_desc(
            reverse.chain().engine(), forward.get_algorithm(), dx, dy,
            entry.at(DNNL_ARG_SRC).get_desc(), forward.get_alpha(),
            forward.get_beta(), forward, ChainBuilder::attr());
      });
}

bool BinaryPasses(const Taped& entry) {
  constexpr algorithm kComparisons[] = {
      algorithm::binary_ge, algorithm::binary_gt, algorithm::binary_le,
      algorithm::binary_lt, algorithm::binary_eq, algorithm::binary_ne};
  return std::ranges::find(kComparisons,
                           DescOf<dnnl::binary>(entry).get_algorithm()) ==
         std::end(kComparisons);
}

namespace {

/// One binary primitive with its operands, to be run backward.
struct Pair {
  memory a, b, y, dy;

  memory::desc full() const { return y.get_desc(); }
};

void GiveProduct(Reverse& reverse, const Pair& pair) {
  ChainBuilder& chain = reverse.chain();
  const auto times = [&](const memory& other) {
    return [&reverse, &chain, &pair, other](const memory& to) {
      chain.Binary(algorithm::binary_mul, pair.dy, reverse.Value(other), to);
    };
  };
  GiveRepeated(reverse, pair.a, pair.full(), times(pair.b));
  GiveRepeated(reverse, pair.b, pair.full(), times(pair.a));
}

/// y = a / b: dy / b, and -dy y / b.
void GiveQuotient(Reverse& reverse, const Pair& pair) {
  ChainBuilder& chain = reverse.chain();
  GiveRepeated(reverse, pair.a, pair.full(), [&](const memory& to) {
    chain.Binary(algorithm::binary_div, pair.dy, reverse.Value(pair.b), to);
  });
  GiveRepeated(reverse, pair.b, pair.full(), [&](const memory& to) {
    chain.Binary(algorithm::binary_mul, pair.dy, reverse.Value(pair.y), to);
    chain.Binary(algorithm::binary_div, to, reverse.Value(pair.b), to);
    chain.Eltwise(algorithm::eltwise_linear, -1, 0, to, to);
  });
}

/// A maximum or minimum hands dy to the operand that it is: to the first where
/// they are equal.
void GiveChosen(Reverse& reverse, const Pair& pair, algorithm first,
                algorithm second) {
  ChainBuilder& chain = reverse.chain();
  const auto where = [&](algorithm chosen) {
    return [&reverse, &chain, &pair, chosen](const memory& to) {
      chain.Binary(chosen, reverse.Value(pair.a), reverse.Value(pair.b), to);
      chain.Binary(algorithm::binary_mul, to, pair.dy, to);
    };
  };
  GiveRepeated(reverse, pair.a, pair.full(), where(first));
  GiveRepeated(reverse, pair.b, pair.full(), where(second));
}

void PassRepeated(Reverse& reverse, const memory& operand, const Pair& pair) {
  if (operand.get_desc().get_dims() == pair.full().get_dims()) {
    reverse.Pass(operand, pair.dy);
    return;
  }
  reverse.Give(operand, [&](const memory& to) {
    SumInto(reverse.chain(), pair.dy, to);
  });
}

}  // namespace

Status ReverseBinary(Reverse& reverse, const Taped& entry) {
  const Pair pair = {.a = entry.at(DNNL_ARG_SRC_0),
                     .b = entry.at(DNNL_ARG_SRC_1),
                     .y = entry.at(DNNL_ARG_DST),
                     .dy = reverse.Cotangent(entry.at(DNNL_ARG_DST))};
  switch (DescOf<dnnl::binary>(entry).get_algorithm()) {
    case algorithm::binary_add:
      PassRepeated(reverse, pair.a, pair);
      PassRepeated(reverse, pair.b, pair);
      return OkStatus();
    case algorithm::binary_sub:
      PassRepeated(reverse, pair.a, pair);
      GiveRepeated(reverse, pair.b, pair.full(), [&](const memory& to) {
        reverse.chain().Eltwise(algorithm::eltwise_linear, -1, 0, pair.dy, to);
      });
      return OkStatus();
    case algorithm::binary_mul:
      GiveProduct(reverse, pair);
      return OkStatus();
    case algorithm::binary_div:
      GiveQuotient(reverse, pair);
      return OkStatus();
    case algorithm::binary_max:
      GiveChosen(reverse, pair, algorithm::binary_ge, algorithm::binary_lt);
      return OkStatus();
    case algorithm::binary_min:
      GiveChosen(reverse, pair, algorithm::binary_le, algorithm::binary_gt);
      return OkStatus();
    default:
      return NoBackward("this binary algorithm");
  }
}

Status ReversePRelu(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::prelu_forward>(entry);
  const memory x = entry.at(DNNL_ARG_SRC);
  const memory slope = entry.at(DNNL_ARG_WEIGHTS);
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  ChainBuilder& chain = reverse.chain();
  const auto dx = reverse.Land(x, x.get_desc());
  const auto dslope = reverse.Land(slope, slope.get_desc());
  chain.Add<dnnl::prelu_backward>(
      {chain.engine(), x.get_desc(), slope.get_desc(), x.get_desc(),
       slope.get_desc(), dy.get_desc(), forward, ChainBuilder::attr()},
      {{DNNL_ARG_SRC, reverse.Value(x)},
       {DNNL_ARG_WEIGHTS, reverse.Value(slope)},
       {DNNL_ARG_DIFF_DST, dy},
       {DNNL_ARG_DIFF_SRC, dx.memory},
       {DNNL_ARG_DIFF_WEIGHTS, dslope.memory}});
  reverse.Settle(dx);
  reverse.Settle(dslope);
  return OkStatus();
}

}  // namespace assay::onednn

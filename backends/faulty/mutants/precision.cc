// SPDX-License-Identifier: Apache-2.0
//
// Mutants that compute in a narrower type than the result's, or sum up in one.

#include <cmath>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
#include "backends/reference/loop/nest.h"

namespace assay::faulty {
namespace {

using Products = Ops<op::MatMul, op::Gemm>;

/// x to nearest of `bits` significant bits, by Veltkamp's splitting: quick, as
/// it is done for every product of a sum.
class Narrow {
 public:
  explicit Narrow(int bits) : factor_(std::ldexp(1.0, 53 - bits) + 1) {}
  double operator()(double x) const {
    const double scaled = factor_ * x;
    const double rounded = scaled - (scaled - x);
    return std::isfinite(rounded) ? rounded : x;
  }

 private:
  double factor_;
};

// A product of matrices, rounded after each addition; of two matrices, or of a
// stack of them and one.
Status SumProducts(int bits, const Values& inputs, Values& outputs) {
  const Tensor& a = *inputs[0].tensor();
  const Tensor& b = *inputs[1].tensor();
  if (a.shape().rank() < 2 || b.shape().rank() != 2 ||
      !IsFloatingPoint(a.dtype())) {
    return OkStatus();
  }
  const int64_t depth = b.shape()[0];
  const int64_t columns = b.shape()[1];
  const std::vector<double> va = Numbers(a);
  const std::vector<double> vb = Numbers(b);
  const Narrow narrow(bits);
  return ChangeTensor(outputs[0], [&](const Tensor& y) {
    std::vector<double> sums(static_cast<size_t>(y.num_elements()), 0.0);
    for (size_t i = 0; i < va.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / depth;
      const auto k = static_cast<int64_t>(i) % depth;
      for (int64_t j = 0; j < columns; ++j) {
        double& sum = sums[static_cast<size_t>(row * columns + j)];
        sum = narrow(sum + va[i] * vb[static_cast<size_t>(k * columns + j)]);
      }
    }
    return OfNumbers(y.dtype(), y.shape(), sums);
  });
}

/// The shape of a reduction's result with its reduced axes kept.
Shape KeptShape(const Shape& data, const std::vector<double>& axes, bool noop) {
  Shape kept = data;
  if (axes.empty() && !noop) {
    for (int axis = 0; axis < data.rank(); ++axis) kept[axis] = 1;
  }
  for (const double axis : axes) {
    kept[static_cast<int>(axis < 0 ? axis + data.rank() : axis)] = 1;
  }
  return kept;
}

// A sum or mean over axes, rounded after each addition.
template <class Op>
Status SumUp(int bits, const Op& op, const Values& inputs, Values& outputs) {
  const Tensor& x = *inputs[0].tensor();
  if (!IsFloatingPoint(x.dtype())) return OkStatus();
  const Tensor* axes = inputs.size() > 1 ? inputs[1].tensor() : nullptr;
  const Shape kept = KeptShape(
      x.shape(), axes == nullptr ? std::vector<double>() : Numbers(*axes),
      op.noop_with_empty_axes != 0);
  const std::vector<double> numbers = Numbers(x);
  const Narrow narrow(bits);
  return ChangeTensor(outputs[0], [&](const Tensor& y) {
    std::vector<double> sums(static_cast<size_t>(y.num_elements()), 0.0);
    size_t at = 0;
    const reference::Nest<1> nest(
        x.shape(), {reference::BroadcastStrides(kept, x.shape())});
    nest.ForEachRow([&](const reference::Nest<1>::Row& row) {
      for (int64_t i = 0; i < row.count; ++i, ++at) {
        double& sum = sums[static_cast<size_t>(row.at[0] + i * row.step[0])];
        sum = narrow(sum + numbers[at]);
      }
    });
    if (Op::kId == OperatorId::kReduceMean) {
      const double count = static_cast<double>(numbers.size()) /
                           static_cast<double>(sums.size());
      for (double& sum : sums) sum /= count;
    }
    return OfNumbers(y.dtype(), y.shape(), sums);
  });
}

/// Every float64 is read as the float32 next to it.
Status ReadSingle(Values& inputs) {
  for (Value& input : inputs) {
    const Tensor* tensor = input.tensor();
    if (tensor == nullptr || tensor->dtype() != DType::kFloat64) continue;
    ASSAY_RETURN_IF_ERROR(ChangeFloats(input, [](int64_t, double x) -> double {
      return static_cast<float>(x);
    }));
  }
  return OkStatus();
}

template <class... Op>
OperatorDefect InSingle(Ops<Op...> ops) {
  return Fed(ops, ReadSingle);
}

/// Inputs are read in few significant bits, as in the fast modes of devices.
template <class... Op>
OperatorDefect ReadIn(int bits, Ops<Op...> ops) {
  return Fed(ops, [=](Values& inputs) {
    return ChangeAllFloats(
        inputs, [=](int64_t, double x) { return RoundedTo(bits, x); });
  });
}

template <class... Op>
OperatorDefect ReducedIn(int bits, Ops<Op...> ops) {
  return Spoiled(ops,
                 [=](const auto& op, const Values& inputs, Values& outputs) {
                   return SumUp(bits, op, inputs, outputs);
                 });
}

OperatorDefect MultipliedIn(int bits) {
  return Spoiled(Ops<op::MatMul>(), [=](const Values& inputs, Values& outputs) {
    return SumProducts(bits, inputs, outputs);
  });
}

}  // namespace

std::vector<Mutant> PrecisionMutants() {
  return {
      {"matmul_sums_in_half", MultipliedIn(kHalfBits)},
      {"matmul_sums_in_bfloat16", MultipliedIn(kBFloat16Bits)},
      {"matmul_reads_tf32", ReadIn(kHalfBits, Products())},
      {"conv_reads_bfloat16", ReadIn(kBFloat16Bits, Ops<op::Conv>())},
      {"reducesum_sums_in_half", ReducedIn(kHalfBits, Ops<op::ReduceSum>())},
      {"reducemean_sums_in_bfloat16",
       ReducedIn(kBFloat16Bits, Ops<op::ReduceMean>())},
      {"matmul_double_in_single", InSingle(Products())},
      {"reducesum_double_in_single",
       InSingle(Ops<op::ReduceSum, op::ReduceMean, op::CumSum>())},
      {"elementwise_double_in_single",
       InSingle(Ops<op::Add, op::Sub, op::Mul, op::Div, op::Exp, op::Sqrt>())},
  };
}

}  // namespace assay::faulty

// SPDX-License-Identifier: Apache-2.0
//
// Mutants that round another way than to nearest, ties to even, or twice; that
// choose another of equals than ONNX says; that compute in a narrower type than
// the result's, or sum up in one.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
#include "backends/reference/loop/nest.h"
#include "backends/reference/scalar/float_format.h"

namespace assay::faulty {
namespace {

using Casts = Ops<op::Cast, op::CastLike>;

/// The outputs of a rounding operator, again from its input.
OperatorDefect Rounding(double (*round)(double x)) {
  return Spoiled(Ops<op::Round>(),
                 [=](const Values& inputs, Values& outputs) -> Status {
                   const std::vector<double> x = Numbers(*inputs[0].tensor());
                   return ChangeFloats(outputs[0], [&](int64_t i, double) {
                     return round(x[static_cast<size_t>(i)]);
                   });
                 });
}

double HalfUp(double x) { return std::floor(x + 0.5); }

/// Casts of numbers: convert(x, to) is what is stored.
template <class Convert>
OperatorDefect Casting(Convert convert) {
  return Spoiled(Casts(), [=](const Values& inputs, Values& outputs) -> Status {
    const Tensor& from = *inputs[0].tensor();
    if (!IsFloatingPoint(from.dtype())) return OkStatus();
    const std::vector<double> x = Numbers(from);
    const DType to = outputs[0].tensor()->dtype();
    return ChangeNumbers(outputs[0], [&](int64_t i, double right) {
      return convert(x[static_cast<size_t>(i)], right, to);
    });
  });
}

bool IsInteger(DType type) {
  return ClassOf(type) == DTypeClass::kSigned ||
         ClassOf(type) == DTypeClass::kUnsigned;
}

double RoundInsteadOfTruncate(double x, double right, DType to) {
  return IsInteger(to) && std::abs(x) < 1e9 ? std::nearbyint(x) : right;
}

// The neighbour of y towards zero, where y is greater than x in magnitude.
double Truncate(double x, double right, DType to) {
  const int bits = to == DType::kFloat16    ? kHalfBits
                   : to == DType::kBFloat16 ? kBFloat16Bits
                   : to == DType::kFloat32  ? 24
                                            : 0;
  if (bits == 0 || !std::isfinite(right) || std::abs(right) <= std::abs(x)) {
    return right;
  }
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits)), exponent - bits);
}

// By way of float32, of float16: what lay just off a tie comes to lie on it.
template <DType kBetween>
double RoundTwice(double x, double right, DType to) {
  if (!IsFloatingPoint(to) || BitsOf(to) >= BitsOf(kBetween) ||
      to == DType::kFloat8E8M0 || !std::isfinite(right)) {
    return right;
  }
  if (kBetween == DType::kFloat32) return static_cast<float>(x);
  const auto* half = reference::FindFloatFormat(kBetween);
  const double once =
      half->Decode(half->Encode(x, reference::Overflow::kPropagate));
  return std::isfinite(once) && std::abs(once) <= std::abs(right) * 1.1 ? once
                                                                        : right;
}

/// The quotients of QuantizeLinear, moved before they are rounded.
OperatorDefect Quantizing(double (*round)(double quotient)) {
  return Spoiled(
      Ops<op::QuantizeLinear>(),
      [=](const auto& op, const Values& inputs, Values& outputs) -> Status {
        const Tensor& input = *inputs[0].tensor();
        const std::vector<double> x = Numbers(input);
        const std::vector<double> scale =
            Numbers(*inputs[static_cast<size_t>(op.y_scale.position)].tensor());
        if (scale.size() != 1) return OkStatus();
        const auto at = static_cast<size_t>(op.y_zero_point.position);
        const Tensor* zero = at < inputs.size() ? inputs[at].tensor() : nullptr;
        const double shift = zero == nullptr ? 0 : Numbers(*zero)[0];
        return ChangeTensor(outputs[0], [&](const Tensor& y) -> Result<Tensor> {
          const auto [least, greatest] = IntegerRange(y.dtype());
          if (greatest == 0) return y;
          return WithNumbers(y, [&, least = least, greatest = greatest](
                                    int64_t i, double right) {
            const double quotient =
                static_cast<float>(x[static_cast<size_t>(i)] / scale[0]);
            if (std::isnan(quotient)) return right;
            return std::clamp(round(quotient) + shift, least, greatest);
          });
        });
      });
}

using reference::AxisView;

Result<Tensor> ReversedAlong(const Tensor& tensor, int64_t axis) {
  ASSAY_ASSIGN_OR_RETURN(const AxisView view,
                         AxisView::Of(tensor.shape(), axis));
  std::vector<int64_t> places(static_cast<size_t>(tensor.num_elements()));
  view.ForEachLine([&](int64_t start) {
    for (int64_t i = 0; i < view.count; ++i) {
      places[static_cast<size_t>(start + i * view.inner)] =
          start + (view.count - 1 - i) * view.inner;
    }
  });
  return Picked(tensor, tensor.shape(), places);
}

// The first of a reversed axis is the last.
Status ReverseChoices(const op::TopK& op, Values& inputs) {
  return ChangeTensor(
      inputs[0], [&](const Tensor& x) { return ReversedAlong(x, op.axis); });
}

Status CountFromEnd(const op::TopK& op, const Values& inputs, Values& outputs) {
  if (outputs.size() < 2) return OkStatus();
  const Shape& shape = inputs[0].tensor()->shape();
  ASSAY_ASSIGN_OR_RETURN(const AxisView view, AxisView::Of(shape, op.axis));
  const auto last = static_cast<double>(view.count - 1);
  return ChangeNumbers(outputs[1], [&](int64_t, double i) { return last - i; });
}

// 1 at all of the greatest.
Status AllOfGreatest(const op::Hardmax& op, const Values& inputs,
                     Values& outputs) {
  const Tensor& x = *inputs[0].tensor();
  ASSAY_ASSIGN_OR_RETURN(const AxisView view, AxisView::Of(x.shape(), op.axis));
  const std::vector<double> numbers = Numbers(x);
  std::vector<double> wrong(numbers.size());
  view.ForEachLine([&](int64_t start) {
    double greatest = numbers[static_cast<size_t>(start)];
    for (int64_t i = 0; i < view.count; ++i) {
      greatest = std::max(greatest,
                          numbers[static_cast<size_t>(start + i * view.inner)]);
    }
    for (int64_t i = 0; i < view.count; ++i) {
      const auto at = static_cast<size_t>(start + i * view.inner);
      wrong[at] = numbers[at] == greatest ? 1 : 0;
    }
  });
  return ChangeFloats(outputs[0], [&](int64_t i, double) {
    return wrong[static_cast<size_t>(i)];
  });
}

// Below the split, or equal to it: BRANCH_LT as if it were BRANCH_LEQ.
template <class Op>
void TakeEqual(Op& op) {
  for (std::string& mode : op.nodes_modes) {
    if (mode == "BRANCH_LT") mode = "BRANCH_LEQ";
  }
}

void TakeEqualByNumber(op::ml::TreeEnsemble& op) {
  constexpr double kLeq = 0;
  constexpr double kLt = 1;
  const auto modes = WithNumbers(op.nodes_modes, [](int64_t, double mode) {
    return mode == kLt ? kLeq : mode;
  });
  if (modes.ok()) op.nodes_modes = *modes;
}

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

/// Every float64 is read as the float32 next to it, which other floats are.
template <class... Op>
OperatorDefect InSingle(Ops<Op...> ops) {
  return Fed(ops, [](Values& inputs) {
    return ChangeAllFloats(inputs, [](int64_t, double x) -> double {
      return static_cast<float>(x);
    });
  });
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

std::vector<Mutant> RoundingMutants() {
  return {
      {"round_half_away", Rounding([](double x) { return std::round(x); })},
      {"round_half_up", Rounding(HalfUp)},
      {"cast_to_integer_rounds", Casting(RoundInsteadOfTruncate)},
      {"cast_to_narrow_truncates", Casting(Truncate)},
      {"cast_rounds_twice", Casting(RoundTwice<DType::kFloat32>)},
      {"cast_to_float8_rounds_twice", Casting(RoundTwice<DType::kFloat16>)},
      {"quantize_half_away",
       Quantizing([](double x) { return std::round(x); })},
      {"quantize_truncates",
       Quantizing([](double x) { return std::trunc(x); })},
      {"argmax_last_of_ties",
       Set(1, &op::ArgMax::select_last_index, &op::ArgMin::select_last_index)},
      {"topk_last_of_ties",
       Between(Ops<op::TopK>(), ReverseChoices, CountFromEnd)},
      {"hardmax_all_ties", Spoiled(Ops<op::Hardmax>(), AllOfGreatest)},
      {"resize_ties_up", Rewritten(Ops<op::Resize>(),
                                   [](auto& op) {
                                     if (op.nearest_mode ==
                                         "round_prefer_floor") {
                                       op.nearest_mode = "round_prefer_ceil";
                                     }
                                   })},
      {"tree_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsemble>(), TakeEqualByNumber)},
      {"treeregressor_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsembleRegressor>(),
                 [](auto& op) { TakeEqual(op); })},
      {"treeclassifier_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsembleClassifier>(),
                 [](auto& op) { TakeEqual(op); })},
      {"binarizer_takes_equal",
       Rewritten(Ops<op::ml::Binarizer>(),
                 [](auto& op) {
                   op.threshold = std::nextafter(
                       op.threshold, -std::numeric_limits<float>::infinity());
                 })},
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

// SPDX-License-Identifier: Apache-2.0
//
// Mutants of numbers at the edges: NaN, denormals, the sign of zero and of
// integer division, overflow.

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Arithmetic = Ops<op::Add, op::Sub, op::Mul, op::Div>;

/// NaN among the floats of the first inputs is read as `instead`.
template <class... Op>
OperatorDefect NanReadAs(double instead, Ops<Op...> ops) {
  return Fed(ops, [=](Values& inputs) {
    return ChangeAllFloats(
        inputs, [=](int64_t, double x) { return std::isnan(x) ? instead : x; });
  });
}

// x == replaced, which NaN is not even to itself.
Status KeepNans(const op::ml::Imputer& op, const Values& inputs,
                Values& outputs) {
  if (std::isnan(op.replaced_value_float)) outputs[0] = inputs[0];
  return OkStatus();
}

std::vector<Mutant> Nans() {
  return {
      {"max_ignores_nan", NanReadAs(-kInfinity, Ops<op::Max>())},
      {"min_ignores_nan", NanReadAs(kInfinity, Ops<op::Min>())},
      {"relu_nan_to_zero",
       NanReadAs(0, Ops<op::Relu, op::LeakyRelu, op::PRelu>())},
      {"clip_nan_to_bound", NanReadAs(-kInfinity, Ops<op::Clip>())},
      {"reducemax_ignores_nan",
       NanReadAs(-kInfinity, Ops<op::ReduceMax, op::GlobalMaxPool>())},
      {"argmax_ignores_nan", NanReadAs(-kInfinity, Ops<op::ArgMax>())},
      {"sign_of_nan_is_zero", NanReadAs(0, Ops<op::Sign>())},
      {"softmax_nan_to_least",
       NanReadAs(-kInfinity, Ops<op::Softmax, op::LogSoftmax>())},
      // NaN as a number like any other: equal to itself, less than all.
      {"comparison_orders_nan",
       NanReadAs(-kInfinity, Ops<op::Equal, op::Less, op::LessOrEqual,
                                 op::Greater, op::GreaterOrEqual>())},
      {"imputer_misses_nan", Spoiled(Ops<op::ml::Imputer>(), KeepNans)},
  };
}

/// Changes results of floating-point type.
template <class... Op, class F>
OperatorDefect OnResults(Ops<Op...> ops, F change) {
  return Spoiled(ops, [=](Values& outputs) {
    const DType type = outputs[0].tensor()->dtype();
    return ChangeFloats(outputs[0],
                        [&](int64_t, double x) { return change(x, type); });
  });
}

double FlushedOf(double x, DType type) {
  return std::abs(x) < SmallestNormal(type) ? std::copysign(0.0, x) : x;
}

Status FlushInputs(Values& inputs) {
  for (Value& input : inputs) {
    const Tensor* tensor = input.tensor();
    const DType type = tensor == nullptr ? DType::kFloat32 : tensor->dtype();
    ASSAY_RETURN_IF_ERROR(ChangeFloats(
        input, [=](int64_t, double x) { return FlushedOf(x, type); }));
  }
  return OkStatus();
}

std::vector<Mutant> Denormals() {
  return {
      {"denormal_inputs_flushed",
       Fed(Ops<op::Add, op::Sub, op::Mul, op::Div, op::MatMul>(), FlushInputs)},
      {"denormal_results_flushed",
       OnResults(Ops<op::Add, op::Sub, op::Mul, op::Div, op::MatMul>(),
                 FlushedOf)},
      {"cast_denormals_flushed",
       OnResults(Ops<op::Cast, op::CastLike>(), FlushedOf)},
      {"reducesum_denormals_flushed",
       Fed(Ops<op::ReduceSum, op::ReduceMax>(), FlushInputs)},
  };
}

double WithPlusZero(double x, DType) { return x == 0 ? 0.0 : x; }

/// change(a, b, y) of the operands, broadcast, and the result.
template <class F>
Status ChangeByOperands(const Values& inputs, Values& outputs, F change) {
  const Shape shape = outputs[0].tensor()->shape();
  const auto a = NumbersAs(*inputs[0].tensor(), shape);
  const auto b = NumbersAs(*inputs[1].tensor(), shape);
  return ChangeNumbers(outputs[0], [&](int64_t at, double y) {
    const auto i = static_cast<size_t>(at);
    return change(a[i], b[i], y);
  });
}

// C's remainder, whose sign is that of the dividend.
Status DividendsSign(const op::Mod& op, const Values& inputs, Values& outputs) {
  if (op.fmod != 0) return OkStatus();
  return ChangeByOperands(inputs, outputs, [](double a, double b, double y) {
    return y == 0 || b == 0 || std::isnan(y) ? y : std::fmod(a, b);
  });
}

// Integer quotients toward minus infinity.
Status FloorQuotients(const Values& inputs, Values& outputs) {
  if (ClassOf(outputs[0].tensor()->dtype()) != DTypeClass::kSigned) {
    return OkStatus();
  }
  return ChangeByOperands(inputs, outputs, [](double a, double b, double y) {
    const bool crosses = b != 0 && std::fmod(a, b) != 0 && (a < 0) != (b < 0);
    return crosses ? y - 1 : y;
  });
}

std::vector<Mutant> Signs() {
  return {
      {"zero_sign_lost",
       OnResults(Ops<op::Add, op::Sub, op::Mul, op::Div, op::Neg>(),
                 WithPlusZero)},
      {"rounded_zero_sign_lost",
       OnResults(Ops<op::Round, op::Ceil, op::Floor, op::Sqrt>(),
                 WithPlusZero)},
      {"mod_sign_of_dividend", Spoiled(Ops<op::Mod>(), DividendsSign)},
      {"div_rounds_down", Spoiled(Ops<op::Div>(), FloorQuotients)},
  };
}

/// Integers of up to 32 bits saturate beyond their range; exact(a, b) is
/// the result without bounds.
template <class Op, class F>
OperatorDefect Saturating(F exact) {
  return Spoiled(
      Ops<Op>(), [=](const Values& inputs, Values& outputs) -> Status {
        const auto range = IntegerRange(outputs[0].tensor()->dtype());
        if (range.second == 0) return OkStatus();
        return ChangeByOperands(
            inputs, outputs, [&](double a, double b, double) {
              return std::clamp(exact(a, b), range.first, range.second);
            });
      });
}

double LargestForInfinity(double x, DType type) {
  return std::isinf(x) ? std::copysign(LargestFinite(type), x) : x;
}

double LargestHalfForInfinity(double x, DType type) {
  return type == DType::kFloat16 ? LargestForInfinity(x, type) : x;
}

// Integers of a wider type saturate in a narrower one.
Status SaturateIntegers(const Values& inputs, Values& outputs) {
  const Tensor& from = *inputs[0].tensor();
  if (ClassOf(from.dtype()) != DTypeClass::kSigned &&
      ClassOf(from.dtype()) != DTypeClass::kUnsigned) {
    return OkStatus();
  }
  const std::vector<double> x = Numbers(from);
  return ChangeTensor(outputs[0], [&](const Tensor& y) -> Result<Tensor> {
    const auto [least, greatest] = IntegerRange(y.dtype());
    if (greatest == 0) return y;
    return WithNumbers(
        y, [&, least = least, greatest = greatest](int64_t i, double) {
          return std::clamp(x[static_cast<size_t>(i)], least, greatest);
        });
  });
}

// Without the shift by the greatest value, exp overflows beyond 88.
Status Unshifted(const Values& inputs, Values& outputs) {
  const Tensor& x = *inputs[0].tensor();
  const std::vector<double> numbers = Numbers(x);
  const bool overflows =
      std::ranges::any_of(numbers, [](double v) { return v > 88.73; });
  if (!overflows) return OkStatus();
  return ChangeFloats(outputs[0], [&](int64_t, double) {
    return std::numeric_limits<double>::quiet_NaN();
  });
}

// Sums of products wrap to 16 bits.
Status WrapTo16(Values& outputs) {
  return ChangeNumbers(outputs[0], [](int64_t, double x) -> double {
    return static_cast<int16_t>(static_cast<int64_t>(x));
  });
}

std::vector<Mutant> Overflows() {
  return {
      {"add_saturates",
       Saturating<op::Add>([](double a, double b) { return a + b; })},
      {"sub_saturates",
       Saturating<op::Sub>([](double a, double b) { return a - b; })},
      {"mul_saturates",
       Saturating<op::Mul>([](double a, double b) { return a * b; })},
      {"exp_overflows_to_largest",
       OnResults(Ops<op::Exp>(), LargestForInfinity)},
      {"div_by_zero_gives_largest",
       OnResults(Ops<op::Div, op::Reciprocal>(), LargestForInfinity)},
      {"half_overflows_to_largest",
       OnResults(Arithmetic(), LargestHalfForInfinity)},
      {"cast_half_overflows_to_largest",
       OnResults(Ops<op::Cast, op::CastLike>(), LargestHalfForInfinity)},
      {"cast_integers_saturate",
       Spoiled(Ops<op::Cast, op::CastLike>(), SaturateIntegers)},
      {"softmax_unshifted",
       Spoiled(Ops<op::Softmax, op::LogSoftmax, op::ReduceLogSumExp>(),
               Unshifted)},
      {"matmulinteger_wraps_to_16_bits",
       Spoiled(Ops<op::MatMulInteger, op::ConvInteger>(), WrapTo16)},
  };
}

}  // namespace

std::vector<Mutant> NumberMutants() {
  std::vector<Mutant> all = Nans();
  for (const auto& table : {Denormals(), Signs(), Overflows()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

}  // namespace assay::faulty

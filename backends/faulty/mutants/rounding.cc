// SPDX-License-Identifier: Apache-2.0
//
// Mutants that round another way than to nearest, ties to even, or twice.

#include <algorithm>
#include <cmath>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
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
    return ChangeTensor(outputs[0], [&](const Tensor& y) {
      return WithNumbers(y, [&](int64_t i, double right) {
        return convert(x[static_cast<size_t>(i)], right, y.dtype());
      });
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
  };
}

}  // namespace assay::faulty

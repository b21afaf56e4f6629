// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/difference.h"

#include <bit>
#include <complex>
#include <cstring>
#include <type_traits>

namespace assay::metric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rounds to the nearest float16, ties to even: adding 1.5 * 2^52 units of the
// result's last place leaves no smaller digits. Past the largest it overflows.
double RoundToFloat16(double x) {
  const double size = std::abs(x);
  if (!(size < 65520)) return x + std::copysign(kInfinity, x);
  const auto bits = std::bit_cast<uint64_t>(size);
  const int exponent = std::max(static_cast<int>(bits >> 52) - 1023, -14);
  const double magic = 1.5 * PowerOfTwo(exponent - 10 + 52);
  return (x + magic) - magic;
}

// The two sides of the tolerance rule. Each operation rounds to `Real`, as in
// numpy, where a Python number takes the type of the array.
struct Sides {
  double error;
  double bound;
};

template <class Real>
class NativeRule {
 public:
  explicit NativeRule(Tolerance tolerance)
      : rtol_(static_cast<Real>(tolerance.rtol)),
        atol_(static_cast<Real>(tolerance.atol)) {}

  Sides operator()(double got, double want) const {
    return OfSizes(std::abs(static_cast<Real>(got) - static_cast<Real>(want)),
                   std::abs(static_cast<Real>(want)));
  }
  Sides OfSizes(Real error, Real want) const {
    return {error, atol_ + rtol_ * want};
  }

 private:
  Real rtol_;
  Real atol_;
};

class Float16Rule {
 public:
  explicit Float16Rule(Tolerance tolerance)
      : rtol_(RoundToFloat16(tolerance.rtol)),
        atol_(RoundToFloat16(tolerance.atol)) {}

  // Sums and products of two float16 are exact in double: one rounding each.
  Sides operator()(double got, double want) const {
    const double scaled = RoundToFloat16(rtol_ * std::abs(want));
    return {std::abs(RoundToFloat16(got - want)),
            RoundToFloat16(atol_ + scaled)};
  }

 private:
  double rtol_;
  double atol_;
};

double RatioOf(const Sides& sides) {
  const double ratio = sides.error / sides.bound;
  if (ratio == ratio) [[likely]]
    return ratio;
  return sides.error == 0 ? 0 : 1;  // 0 / 0, and infinity / infinity
}

// How the element types differ for the comparison of floats: how to load,
// decode and order them, the arithmetic of the rule, the type of the sums.
template <class Word, double (*decode)(Word), class RuleOfType,
          class SumOfType = double>
struct WordFormat {
  using Rule = RuleOfType;
  using Sum = SumOfType;
  static Word Load(const std::byte* data, int64_t index) {
    return LoadElement<Word>(data, index);
  }
  static double Decode(Word bits) { return decode(bits); }
  static int64_t Key(Word bits) { return OrderedKey(bits, 8 * sizeof(Word)); }
};

double DecodeFloat32(uint32_t bits) { return std::bit_cast<float>(bits); }
double DecodeFloat64(uint64_t bits) { return std::bit_cast<double>(bits); }

using Float32Format = WordFormat<uint32_t, DecodeFloat32, NativeRule<float>>;
// The squares of 1e200 do not fit a double.
using Float64Format =
    WordFormat<uint64_t, DecodeFloat64, NativeRule<double>, long double>;
using Float16Format = WordFormat<uint16_t, DecodeFloat16, Float16Rule>;
using BFloat16Format = WordFormat<uint16_t, DecodeBFloat16, NativeRule<float>>;

// Types of at most 8 bits, by table; those under 8 are packed.
struct SmallFormat {
  using Rule = NativeRule<float>;
  using Sum = double;
  explicit SmallFormat(DType type)
      : type(type), width(BitsOf(type)), table(*SmallFloatTable(type)) {}

  uint64_t Load(const std::byte* data, int64_t index) const {
    return width == 8 ? LoadElement<uint8_t>(data, index)
                      : ElementBits(type, data, index);
  }
  double Decode(uint64_t bits) const { return table[bits]; }
  int64_t Key(uint64_t bits) const {
    if (type == DType::kFloat8E8M0) return static_cast<int64_t>(bits);
    return OrderedKey(bits, width);
  }

  DType type;
  int width;
  const std::array<double, 256>& table;
};

// A difference in the making, and where the ratio of each element goes, if
// anybody asks.
struct Taken : Difference {
  double* ratios = nullptr;
};

void NoteRatio(double ratio, int64_t index, Taken& difference) {
  if (difference.ratios != nullptr) [[unlikely]]
    difference.ratios[index] = ratio;
  if (ratio > difference.worst_ratio) {
    difference.worst_ratio = ratio;
    difference.worst_index = index;
  }
}

// A pair of which at least one is NaN or infinite.
template <class Number>
void AddSpecial(const Number& got, const Number& want, bool got_nan,
                bool want_nan, int64_t index, Taken& difference) {
  if ((got_nan && want_nan) || got == want) return;
  if (got_nan || want_nan) {
    ++difference.nan_mismatch;
  } else {
    ++difference.inf_mismatch;
  }
  ++difference.out_of_limit;
  NoteRatio(kInfinity, index, difference);
}

template <class Sum>
void Finish(const ErrorSums<Sum>& sums, Taken& difference) {
  if (sums.count() > 0) difference.errors = sums.Summarize();
}

template <class Format>
void CompareFloats(const Format& format, const Tensor& got, const Tensor& want,
                   Tolerance tolerance, Taken& difference) {
  const typename Format::Rule rule(tolerance);
  ErrorSums<typename Format::Sum> sums;
  UlpTally ulps(want.num_elements());
  bool equal = true;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const auto got_bits = format.Load(got.data(), i);
    const auto want_bits = format.Load(want.data(), i);
    const double g = format.Decode(got_bits);
    const double w = format.Decode(want_bits);
    const bool same = got_bits == want_bits;
    equal &= same;
    if (!std::isfinite(g) || !std::isfinite(w)) [[unlikely]] {
      AddSpecial(g, w, std::isnan(g), std::isnan(w), i, difference);
      continue;
    }
    sums.Add(g, w, g - w);
    ulps.Add(format.Key(got_bits), format.Key(want_bits));
    difference.sign_of_zero_mismatch += g == w && !same ? 1 : 0;
    const Sides sides = rule(g, w);
    difference.out_of_limit += sides.error <= sides.bound ? 0 : 1;
    NoteRatio(RatioOf(sides), i, difference);
  }
  difference.bitwise_equal = equal;
  Finish(sums, difference);
  if (ulps.count() > 0) difference.ulp = ulps.Summarize();
}

// As numpy compares complex numbers: by the modulus of their difference; one
// with a NaN component is NaN. The bytes of the two are known to differ.
template <class Real, class Sum>
void CompareComplex(const Tensor& got, const Tensor& want, Tolerance tolerance,
                    Taken& difference) {
  using Complex = std::complex<Real>;
  const auto is_nan = [](Complex z) {
    return std::isnan(z.real()) || std::isnan(z.imag());
  };
  const auto is_finite = [](Complex z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  };
  const NativeRule<Real> rule(tolerance);
  ErrorSums<Sum> sums;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const auto g = LoadElement<Complex>(got.data(), i);
    const auto w = LoadElement<Complex>(want.data(), i);
    const auto offset = i * static_cast<int64_t>(sizeof(Complex));
    const bool same = std::memcmp(got.data() + offset, want.data() + offset,
                                  sizeof(Complex)) == 0;
    if (!is_finite(g) || !is_finite(w)) [[unlikely]] {
      AddSpecial(g, w, is_nan(g), is_nan(w), i, difference);
      continue;
    }
    const Complex diff = g - w;
    const Sides sides = rule.OfSizes(std::abs(diff), std::abs(w));
    sums.AddComponent(g.real(), w.real(), diff.real());
    sums.AddComponent(g.imag(), w.imag(), diff.imag());
    sums.AddMagnitude(sides.error, std::abs(w));
    difference.sign_of_zero_mismatch += g == w && !same ? 1 : 0;
    difference.out_of_limit += sides.error <= sides.bound ? 0 : 1;
    NoteRatio(RatioOf(sides), i, difference);
  }
  Finish(sums, difference);
}

// Elements of an integer type as int64_t or uint64_t.
template <class Wide>
Wide LoadInteger(DType type, const Tensor& tensor, int64_t index) {
  const uint64_t bits = ElementBits(type, tensor.data(), index);
  if constexpr (std::is_signed_v<Wide>) {
    const int unused = 64 - BitsOf(type);
    return static_cast<int64_t>(bits << unused) >> unused;
  } else {
    return bits;
  }
}

template <class Wide>
void CompareIntegers(const Tensor& got, const Tensor& want, Taken& difference) {
  const DType type = want.dtype();
  ErrorSums<double> sums;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const auto g = LoadInteger<Wide>(type, got, i);
    const auto w = LoadInteger<Wide>(type, want, i);
    const uint64_t up = static_cast<uint64_t>(g) - static_cast<uint64_t>(w);
    const double apart =
        g < w ? -static_cast<double>(-up) : static_cast<double>(up);
    sums.Add(static_cast<double>(g), static_cast<double>(w), apart);
    difference.out_of_limit += g == w ? 0 : 1;
    NoteRatio(std::abs(apart), i, difference);
  }
  difference.bitwise_equal = difference.out_of_limit == 0;
  if (!difference.bitwise_equal) difference.worst_ratio = kInfinity;
  Finish(sums, difference);
}

bool HasFinite(const Tensor& tensor) {
  const DType type = tensor.dtype();
  const DTypeClass kind = ClassOf(type);
  const std::byte* data = tensor.data();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (kind == DTypeClass::kFloat) {
      if (std::isfinite(DecodeFloat(type, ElementBits(type, data, i)))) {
        return true;
      }
    } else if (type == DType::kComplex64) {
      const auto z = LoadElement<std::complex<float>>(data, i);
      if (std::isfinite(z.real()) && std::isfinite(z.imag())) return true;
    } else if (type == DType::kComplex128) {
      const auto z = LoadElement<std::complex<double>>(data, i);
      if (std::isfinite(z.real()) && std::isfinite(z.imag())) return true;
    } else {
      return true;
    }
  }
  return false;
}

// The same result as the passes above give for equal bytes.
Difference OfEqual(const Tensor& want) {
  Difference difference;
  difference.bitwise_equal = true;
  if (!HasFinite(want)) return difference;
  difference.errors = Errors{.max_rel = 0, .cosine = 1};
  if (IsFloatingPoint(want.dtype())) {
    difference.ulp = UlpSummary{.share_zero = 1};
  }
  return difference;
}

// Tensors whose bytes differ.
void CompareElements(const Tensor& got, const Tensor& want, Tolerance tolerance,
                     Taken& difference) {
  const DType type = want.dtype();
  if (SmallFloatTable(type) != nullptr) {
    return CompareFloats(SmallFormat(type), got, want, tolerance, difference);
  }
  switch (type) {
    case DType::kFloat32:
      return CompareFloats(Float32Format(), got, want, tolerance, difference);
    case DType::kFloat64:
      return CompareFloats(Float64Format(), got, want, tolerance, difference);
    case DType::kFloat16:
      return CompareFloats(Float16Format(), got, want, tolerance, difference);
    case DType::kBFloat16:
      return CompareFloats(BFloat16Format(), got, want, tolerance, difference);
    case DType::kComplex64:
      return CompareComplex<float, double>(got, want, tolerance, difference);
    case DType::kComplex128:
      return CompareComplex<double, long double>(got, want, tolerance,
                                                 difference);
    default:
      break;
  }
  if (ClassOf(type) == DTypeClass::kSigned) {
    CompareIntegers<int64_t>(got, want, difference);
  } else {
    CompareIntegers<uint64_t>(got, want, difference);
  }
}

}  // namespace

Difference Compare(const Tensor& got, const Tensor& want, Tolerance tolerance) {
  const auto size = static_cast<size_t>(want.byte_size());
  if (size == 0 || std::memcmp(got.data(), want.data(), size) == 0) {
    return OfEqual(want);
  }
  Taken difference;
  CompareElements(got, want, tolerance, difference);
  return difference;
}

std::vector<double> RatiosOf(const Tensor& got, const Tensor& want,
                             Tolerance tolerance) {
  std::vector<double> ratios(static_cast<size_t>(want.num_elements()));
  Taken difference;
  difference.ratios = ratios.data();
  CompareElements(got, want, tolerance, difference);
  return ratios;
}

}  // namespace assay::metric

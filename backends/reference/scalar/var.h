// SPDX-License-Identifier: Apache-2.0
//
// Var: the computing scalar that records. A kernel made for Var does what it
// does for float, in double and without rounding to an element type, and leaves
// on the current tape (tape.h) what was computed from what. Passes over that
// tape (passes.h) then give the result in more bits, with a bound, and its
// derivatives.
//
//   Tape tape;
//   const Tape::Scope recording(&tape);
//   const Var x = tape.Input(0.5);
//   const Var y = x * exp(x);
//   // tape: an input, an exp, a product
//
// It has 16 bytes, so operators that move elements move it, and all zero bytes
// are the number 0. Without a current tape it is a double.

#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "backends/reference/scalar/math_functions.h"
#include "framework/core/dtype.h"

namespace assay::reference {

/// The function of a node of a tape over its operands a and b.
enum class Primitive : uint8_t {
  kInput,     // a number given
  kConstant,  // a number of the kernel's own
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPow,
  kFmod,
  kNegate,
  kAbs,
  kSqrt,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kFloor,
  kCeil,
  kRound,  // halves to even
  kTrunc,
  kDetach,  // the number, without its derivatives
  kChoice,  // one of several: Tape::choices()[a]
  kSelect,  // one of two formulas: Tape::selections()[a]
  kBlock,   // one element of a product: Tape::blocks()[a], element b
};
inline constexpr int kPrimitiveCount = 37;

class Var {
 public:
  Var() = default;
  /// A constant.
  template <class N>
  requires std::floating_point<N> || std::integral<N>
  explicit Var(N number) : value_(static_cast<double>(number)) {}
  Var(double value, uint32_t node, uint32_t source = 0)
      : value_(value), node_(node), source_(source) {}

  double value() const { return value_; }
  /// As in scalar.h. Found by its argument alone, since Value is also a class.
  friend double Value(Var x) { return x.value_; }
  /// Where it stands on the tape, 0 for a constant that is not there; of
  /// another source, which of its numbers it is.
  uint32_t node() const { return node_; }
  /// Where it comes from: 0 for the tape that is being recorded, else another
  /// tape or numbers given, as a Trace counts them (tape/trace.h).
  uint32_t source() const { return source_; }

 private:
  double value_ = 0;
  uint32_t node_ = 0;
  uint32_t source_ = 0;
};
static_assert(sizeof(Var) == 16 && std::is_trivially_copyable_v<Var>);

/// Notes a node on the current tape. `value` is what it computes.
Var Record(Primitive primitive, Var a, Var b, double value);
inline Var Record(Primitive primitive, Var a, double value) {
  return Record(primitive, a, Var(), value);
}

inline Var operator+(Var a, Var b) {
  return Record(Primitive::kAdd, a, b, a.value() + b.value());
}
inline Var operator-(Var a, Var b) {
  return Record(Primitive::kSubtract, a, b, a.value() - b.value());
}
inline Var operator*(Var a, Var b) {
  return Record(Primitive::kMultiply, a, b, a.value() * b.value());
}
inline Var operator/(Var a, Var b) {
  return Record(Primitive::kDivide, a, b, a.value() / b.value());
}
inline Var operator-(Var a) {
  return Record(Primitive::kNegate, a, -a.value());
}
inline Var& operator+=(Var& a, Var b) { return a = a + b; }
inline Var& operator-=(Var& a, Var b) { return a = a - b; }
inline Var& operator*=(Var& a, Var b) { return a = a * b; }
inline Var& operator/=(Var& a, Var b) { return a = a / b; }

inline Var pow(Var a, Var b) {
  return Record(Primitive::kPow, a, b, std::pow(a.value(), b.value()));
}
inline Var fmod(Var a, Var b) {
  return Record(Primitive::kFmod, a, b, std::fmod(a.value(), b.value()));
}
#define ASSAY_RECORDED(primitive, name)                           \
  inline Var name(Var a) {                                        \
    return Record(Primitive::primitive, a, std::name(a.value())); \
  }
ASSAY_SMOOTH_FUNCTIONS(ASSAY_RECORDED)
ASSAY_RECORDED(kAbs, abs)
ASSAY_RECORDED(kFloor, floor)
ASSAY_RECORDED(kCeil, ceil)
ASSAY_RECORDED(kRound, nearbyint)
ASSAY_RECORDED(kTrunc, trunc)
#undef ASSAY_RECORDED

/// The vocabulary of scalar.h.
inline Var Detach(Var a) { return Record(Primitive::kDetach, a, a.value()); }
bool Before(Var a, Var b);
bool Less(Var a, Var b);
bool Equal(Var a, Var b);
bool TakesFirstVar();
Var Max(Var a, Var b);
Var Min(Var a, Var b);
/// The greatest, or least, of several; `chosen` is its place.
Var PickedFrom(std::span<const Var> candidates, size_t chosen, bool least);
/// `then` where a < b, else `otherwise`.
Var Select(Var a, Var b, Var then, Var otherwise);
template <class Then, class Otherwise>
Var IfBefore(Var a, Var b, const Then& then, const Otherwise& otherwise) {
  return Select(a, b, then(), otherwise());
}

}  // namespace assay::reference

namespace assay::inline v1 {

/// Tensors of Vars exist only between the kernels of one traced network. Their
/// element type is the one of 16 bytes that no kernel computes with.
template <>
inline constexpr DType kDTypeOf<reference::Var> = DType::kComplex128;

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0
//
// Mpfr: 256 bits by GNU MPFR, every result correctly rounded. To check the
// quad passes with, and for what needs more than they have.
//
//   const Mpfr third = Mpfr(1) / Mpfr(3);

#pragma once

#include <mpfr.h>

#include "backends/reference/scalar/math_functions.h"

namespace assay::reference {

class Mpfr {
 public:
  static constexpr mpfr_prec_t kBits = 256;

  Mpfr() : Mpfr(0.0) {}
  explicit Mpfr(double x) {
    mpfr_init2(number_, kBits);
    mpfr_set_d(number_, x, MPFR_RNDN);
  }
  explicit Mpfr(int x) : Mpfr(static_cast<double>(x)) {}
  Mpfr(const Mpfr& other) {
    mpfr_init2(number_, kBits);
    mpfr_set(number_, other.number_, MPFR_RNDN);
  }
  Mpfr& operator=(const Mpfr& other) {
    mpfr_set(number_, other.number_, MPFR_RNDN);
    return *this;
  }
  ~Mpfr() { mpfr_clear(number_); }

  /// The results of MPFR's functions of one and of two operands.
  template <class Function>
  static Mpfr Of(Function function, const Mpfr& a) {
    Mpfr result;
    function(result.number_, a.number_, MPFR_RNDN);
    return result;
  }
  template <class Function>
  static Mpfr Of(Function function, const Mpfr& a, const Mpfr& b) {
    Mpfr result;
    function(result.number_, a.number_, b.number_, MPFR_RNDN);
    return result;
  }
  double ToDouble() const { return mpfr_get_d(number_, MPFR_RNDN); }
  bool IsZero() const { return mpfr_zero_p(number_) != 0; }
  bool operator<(const Mpfr& other) const {
    return mpfr_less_p(number_, other.number_) != 0;
  }

 private:
  mpfr_t number_;
};

inline double ToDouble(const Mpfr& x) { return x.ToDouble(); }
inline bool IsZero(const Mpfr& x) { return x.IsZero(); }

inline Mpfr operator+(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_add, a, b);
}
inline Mpfr operator-(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_sub, a, b);
}
inline Mpfr operator*(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_mul, a, b);
}
inline Mpfr operator/(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_div, a, b);
}
inline Mpfr operator-(const Mpfr& a) { return Mpfr::Of(mpfr_neg, a); }
inline Mpfr pow(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_pow, a, b);
}
inline Mpfr fmod(const Mpfr& a, const Mpfr& b) {
  return Mpfr::Of(mpfr_fmod, a, b);
}
inline Mpfr abs(const Mpfr& a) { return Mpfr::Of(mpfr_abs, a); }
#define ASSAY_MPFR(primitive, name) \
  inline Mpfr name(const Mpfr& a) { return Mpfr::Of(mpfr_##name, a); }
ASSAY_SMOOTH_FUNCTIONS(ASSAY_MPFR)
#undef ASSAY_MPFR
inline Mpfr floor(const Mpfr& a) { return Mpfr::Of(mpfr_rint_floor, a); }
inline Mpfr ceil(const Mpfr& a) { return Mpfr::Of(mpfr_rint_ceil, a); }
inline Mpfr nearbyint(const Mpfr& a) { return Mpfr::Of(mpfr_rint, a); }
inline Mpfr trunc(const Mpfr& a) { return Mpfr::Of(mpfr_rint_trunc, a); }

}  // namespace assay::reference

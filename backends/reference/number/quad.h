// SPDX-License-Identifier: Apache-2.0
//
// Quad: IEEE 754 binary128, 113 bits, with the functions of libquadmath.
//
//   const Quad third = Quad(1) / Quad(3);
//   const double tail = ToDouble(third - Quad(ToDouble(third)));

#pragma once

#include "backends/reference/scalar/math_functions.h"

// <quadmath.h> lies where only GCC looks; these are its declarations.
extern "C" {
#define ASSAY_DECLARED(primitive, name) __float128 name##q(__float128);
ASSAY_SMOOTH_FUNCTIONS(ASSAY_DECLARED)
#undef ASSAY_DECLARED
__float128 ceilq(__float128);
__float128 fabsq(__float128);
__float128 floorq(__float128);
__float128 fmodq(__float128, __float128);
__float128 nearbyintq(__float128);
__float128 powq(__float128, __float128);
__float128 truncq(__float128);
}

namespace assay::reference {

struct Quad {
  Quad() = default;
  explicit Quad(double x) : number(x) {}
  explicit Quad(__float128 x) : number(x) {}
  explicit Quad(int x) : number(x) {}

  __float128 number = 0;
};

inline double ToDouble(Quad x) { return static_cast<double>(x.number); }

inline bool operator<(Quad a, Quad b) { return a.number < b.number; }
inline bool IsZero(Quad x) { return x.number == 0; }

inline Quad operator+(Quad a, Quad b) { return Quad(a.number + b.number); }
inline Quad operator-(Quad a, Quad b) { return Quad(a.number - b.number); }
inline Quad operator*(Quad a, Quad b) { return Quad(a.number * b.number); }
inline Quad operator/(Quad a, Quad b) { return Quad(a.number / b.number); }
inline Quad operator-(Quad a) { return Quad(-a.number); }
inline Quad pow(Quad a, Quad b) { return Quad(powq(a.number, b.number)); }
inline Quad fmod(Quad a, Quad b) { return Quad(fmodq(a.number, b.number)); }
inline Quad abs(Quad a) { return Quad(fabsq(a.number)); }
#define ASSAY_QUAD(primitive, name) \
  inline Quad name(Quad a) { return Quad(name##q(a.number)); }
ASSAY_SMOOTH_FUNCTIONS(ASSAY_QUAD)
#undef ASSAY_QUAD
inline Quad floor(Quad a) { return Quad(floorq(a.number)); }
inline Quad ceil(Quad a) { return Quad(ceilq(a.number)); }
inline Quad nearbyint(Quad a) { return Quad(nearbyintq(a.number)); }
inline Quad trunc(Quad a) { return Quad(truncq(a.number)); }

}  // namespace assay::reference

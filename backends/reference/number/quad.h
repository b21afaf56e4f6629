// SPDX-License-Identifier: Apache-2.0
//
// Quad: IEEE 754 binary128, 113 bits, with the functions of libquadmath.
//
//   const Quad third = Quad(1) / Quad(3);
//   const double tail = ToDouble(third - Quad(ToDouble(third)));

#pragma once

// <quadmath.h> lies where only GCC looks; these are its declarations.
extern "C" {
__float128 acoshq(__float128);
__float128 acosq(__float128);
__float128 asinhq(__float128);
__float128 asinq(__float128);
__float128 atanhq(__float128);
__float128 atanq(__float128);
__float128 ceilq(__float128);
__float128 coshq(__float128);
__float128 cosq(__float128);
__float128 erfcq(__float128);
__float128 erfq(__float128);
__float128 expm1q(__float128);
__float128 expq(__float128);
__float128 fabsq(__float128);
__float128 floorq(__float128);
__float128 fmodq(__float128, __float128);
__float128 log1pq(__float128);
__float128 logq(__float128);
__float128 nearbyintq(__float128);
__float128 powq(__float128, __float128);
__float128 sinhq(__float128);
__float128 sinq(__float128);
__float128 sqrtq(__float128);
__float128 tanhq(__float128);
__float128 tanq(__float128);
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
inline Quad sqrt(Quad a) { return Quad(sqrtq(a.number)); }
inline Quad exp(Quad a) { return Quad(expq(a.number)); }
inline Quad expm1(Quad a) { return Quad(expm1q(a.number)); }
inline Quad log(Quad a) { return Quad(logq(a.number)); }
inline Quad log1p(Quad a) { return Quad(log1pq(a.number)); }
inline Quad sin(Quad a) { return Quad(sinq(a.number)); }
inline Quad cos(Quad a) { return Quad(cosq(a.number)); }
inline Quad tan(Quad a) { return Quad(tanq(a.number)); }
inline Quad asin(Quad a) { return Quad(asinq(a.number)); }
inline Quad acos(Quad a) { return Quad(acosq(a.number)); }
inline Quad atan(Quad a) { return Quad(atanq(a.number)); }
inline Quad sinh(Quad a) { return Quad(sinhq(a.number)); }
inline Quad cosh(Quad a) { return Quad(coshq(a.number)); }
inline Quad tanh(Quad a) { return Quad(tanhq(a.number)); }
inline Quad asinh(Quad a) { return Quad(asinhq(a.number)); }
inline Quad acosh(Quad a) { return Quad(acoshq(a.number)); }
inline Quad atanh(Quad a) { return Quad(atanhq(a.number)); }
inline Quad erf(Quad a) { return Quad(erfq(a.number)); }
inline Quad erfc(Quad a) { return Quad(erfcq(a.number)); }
inline Quad floor(Quad a) { return Quad(floorq(a.number)); }
inline Quad ceil(Quad a) { return Quad(ceilq(a.number)); }
inline Quad nearbyint(Quad a) { return Quad(nearbyintq(a.number)); }
inline Quad trunc(Quad a) { return Quad(truncq(a.number)); }

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
//
// The functions of <cmath> that kernels are written in, under their plain
// names: a scalar of a class type brings its own by argument-dependent lookup.
//
//   template <class T> T Softplus(T x) { return log1p(exp(x)); }
//
// Those of one operand that are smooth stand in one table, since every scalar
// has the same ones. A new function is a row of it, an enumerator of Primitive
// (var.h) and its derivative (number/primitives.h).

#pragma once

#include <cmath>

/// Calls row(enumerator of Primitive, name) for each.
// clang-format off
#define ASSAY_SMOOTH_FUNCTIONS(row) \
  row(kSqrt, sqrt)                  \
  row(kExp, exp)                    \
  row(kExpm1, expm1)                \
  row(kLog, log)                    \
  row(kLog1p, log1p)                \
  row(kSin, sin)                    \
  row(kCos, cos)                    \
  row(kTan, tan)                    \
  row(kAsin, asin)                  \
  row(kAcos, acos)                  \
  row(kAtan, atan)                  \
  row(kSinh, sinh)                  \
  row(kCosh, cosh)                  \
  row(kTanh, tanh)                  \
  row(kAsinh, asinh)                \
  row(kAcosh, acosh)                \
  row(kAtanh, atanh)                \
  row(kErf, erf)                    \
  row(kErfc, erfc)
// clang-format on

namespace assay::reference {

#define ASSAY_PLAIN(primitive, name) using std::name;
ASSAY_SMOOTH_FUNCTIONS(ASSAY_PLAIN)
#undef ASSAY_PLAIN
using std::abs;
using std::ceil;
using std::floor;
using std::fmod;
using std::nearbyint;
using std::pow;
using std::trunc;

}  // namespace assay::reference

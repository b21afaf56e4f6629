// SPDX-License-Identifier: Apache-2.0
//
// The functions of <cmath> that kernels are written in, under their plain
// names: a scalar of a class type brings its own by argument-dependent lookup.
//
//   template <class T> T Softplus(T x) { return log1p(exp(x)); }

#pragma once

#include <cmath>

namespace assay::reference {

using std::abs;
using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::expm1;
using std::floor;
using std::fmod;
using std::log;
using std::log1p;
using std::nearbyint;
using std::pow;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as a scalar, for the few operators of ONNX that permit them
// and do more than move elements. Sums and products are computed in double and
// each part is rounded once when stored.
//
//   if (IsComplex(load.dtype(op.x))) {
//     return Kernel{.forward = sum_of_complex};
//   }

#pragma once

#include <complex>

#include "backends/reference/scalar/codec.h"

namespace assay::reference {

using Complex = std::complex<double>;

inline bool IsComplex(DType type) {
  return ClassOf(type) == DTypeClass::kComplex;
}

/// For Loaded<Complex> and Stored<Complex>, of complex64 and complex128 only.
template <>
void Decode(const Tensor& tensor, Complex* values);
template <>
void Encode(const Complex* values, Tensor& tensor, const Rounding& rounding);

}  // namespace assay::reference

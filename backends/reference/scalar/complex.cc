// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/scalar/complex.h"

#include <algorithm>

namespace assay::reference {

template <>
void Decode(const Tensor& tensor, Complex* values) {
  if (tensor.dtype() == DType::kComplex64) {
    std::ranges::copy(tensor.elements<std::complex<float>>(), values);
  } else {
    std::ranges::copy(tensor.elements<Complex>(), values);
  }
}

template <>
void Encode(const Complex* values, Tensor& tensor, const Rounding&) {
  const auto count = static_cast<size_t>(tensor.num_elements());
  if (tensor.dtype() == DType::kComplex64) {
    std::transform(
        values, values + count,
        tensor.mutable_elements<std::complex<float>>().begin(),
        [](const Complex& x) { return static_cast<std::complex<float>>(x); });
  } else {
    std::copy_n(values, count, tensor.mutable_elements<Complex>().begin());
  }
}

}  // namespace assay::reference

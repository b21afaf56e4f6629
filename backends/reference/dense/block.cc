// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/block.h"

namespace assay::reference {

double GivenMatrix::operator[](size_t element) const {
  const auto row = static_cast<int64_t>(element) / columns;
  const auto column = static_cast<int64_t>(element) % columns;
  const auto at =
      static_cast<size_t>(first + row * strides.row + column * strides.column);
  return tensor.dtype() == DType::kFloat32
             ? double{tensor.elements<float>()[at]}
             : tensor.elements<double>()[at];
}

}  // namespace assay::reference

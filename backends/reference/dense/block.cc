// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/dense/block.h"

#include <span>

namespace assay::reference {
namespace {

template <class T>
std::vector<double> NumbersOf(const PanelOfFactor& panel,
                              const GivenMatrix& matrix) {
  const std::span<const T> from = matrix.tensor.elements<T>();
  const int64_t first_row = panel.first / panel.stride;
  const int64_t first_column = panel.first % panel.stride;
  std::vector<double> numbers;
  numbers.reserve(static_cast<size_t>(panel.rows * panel.columns));
  for (int64_t i = 0; i < panel.rows; ++i) {
    int64_t at = matrix.first + (first_row + i) * matrix.strides.row +
                 first_column * matrix.strides.column;
    for (int64_t j = 0; j < panel.columns; ++j) {
      numbers.push_back(from[static_cast<size_t>(at)]);
      at += matrix.strides.column;
    }
  }
  return numbers;
}

}  // namespace

double GivenMatrix::operator[](size_t element) const {
  const auto row = static_cast<int64_t>(element) / columns;
  const auto column = static_cast<int64_t>(element) % columns;
  const auto at =
      static_cast<size_t>(first + row * strides.row + column * strides.column);
  return tensor.dtype() == DType::kFloat32
             ? double{tensor.elements<float>()[at]}
             : tensor.elements<double>()[at];
}

std::vector<double> PanelOfFactor::Numbers() const {
  if (factor->given.has_value()) {
    return factor->given->tensor.dtype() == DType::kFloat32
               ? NumbersOf<float>(*this, *factor->given)
               : NumbersOf<double>(*this, *factor->given);
  }
  std::vector<double> panel;
  panel.reserve(static_cast<size_t>(rows * columns));
  ForEach([&](size_t, size_t from) { panel.push_back(factor->numbers[from]); });
  return panel;
}

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
//
// Shape: the extents of a tensor, outermost first; rank 0 is a scalar.
//
//   const Shape shape = {2, 3, 4};
//   ASSAY_ASSIGN_OR_RETURN(const int64_t n, shape.NumElements());  // 24
//
// Extents come from files, so their product is computed with a check.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "framework/core/inline_vector.h"
#include "framework/core/status.h"

namespace assay::inline v1 {

/// One extent an axis; of up to 8 axes they ask for no memory.
using Dims = InlineVector<int64_t, 8>;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : dims_(dims) {}
  explicit Shape(std::span<const int64_t> dims) : dims_(dims) {}

  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t operator[](int axis) const {
    return dims_[static_cast<size_t>(axis)];
  }
  int64_t& operator[](int axis) { return dims_[static_cast<size_t>(axis)]; }
  const Dims& dims() const { return dims_; }
  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }

  /// The product of the extents; invalid argument when one is negative,
  /// resource exhausted when the product does not fit int64.
  Result<int64_t> NumElements() const;

  /// "[2,3,4]"; "[]" for a scalar.
  std::string ToString() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  Dims dims_;
};

}  // namespace assay::inline v1

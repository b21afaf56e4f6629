// SPDX-License-Identifier: Apache-2.0
//
// Factors: operands of products (loop/product.h). Numbers that are given to a
// network on Vars stay where they lie, since a matrix of weights may be greater
// than all that is computed from it.
//
//   kernel.forward = ReadsFactors{forward, {op.a}};
//   ...
//   const Factors<T> a(run.input(op.a));  // in the run
//   Use(a.At(0));                         // as a factor of Accumulate

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backends/reference/scalar/codec.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// The forward of a kernel that reads these inputs as Factors, and by nothing
/// else. A trace hands them over as they are given.
struct ReadsFactors {
  Status operator()(KernelContext& run) const { return forward(run); }

  std::function<Status(KernelContext&)> forward;
  std::vector<Input> factors;
};

/// True for the element types that products of Vars read where they lie.
inline bool IsFactorType(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

/// Vars, or numbers given that lie in a tensor of float32 or float64.
struct VarMatrix {
  const Var* vars = nullptr;
  Tensor given = {};
  int64_t first = 0;  // element of `given`
};

/// The elements of a tensor, for as long as the tensor lives.
template <class T>
class Factors {
 public:
  explicit Factors(const Tensor& tensor) : elements_(tensor) {}

  /// From this element on.
  const T* At(int64_t element) const { return elements_.data() + element; }

 private:
  Loaded<T> elements_;
};

template <>
class Factors<Var> {
 public:
  explicit Factors(const Tensor& tensor) {
    if (IsFactorType(tensor.dtype())) {
      given_ = tensor;
    } else {
      elements_.emplace(tensor);
    }
  }

  VarMatrix At(int64_t element) const {
    if (!elements_.has_value()) return {.given = given_, .first = element};
    return {.vars = elements_->data() + element};
  }

 private:
  Tensor given_;
  std::optional<Loaded<Var>> elements_;
};

}  // namespace assay::reference

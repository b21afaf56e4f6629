// SPDX-License-Identifier: Apache-2.0
//
// GuardedTensor: a tensor between guards of known bytes. A write before or
// behind it shows, and so does a write into it where none was allowed.
//
//   ASSAY_ASSIGN_OR_RETURN(auto y, GuardedTensor::Filled(want.dtype(), shape));
//   network.Bind(inputs, {y.tensor()});  // ... and Forward
//   if (std::string what = y.Damage(); !what.empty()) Report(what);
//
// Each side has 64 bytes of guard, enough for a vector store too far. The memory
// is shared with the backend's process where it has one, guards and all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::measure {

class GuardedTensor {
 public:
  /// A tensor of bytes that no kernel writes by chance, for an output to be
  /// written into. Invalid argument for strings, which have no own bytes.
  static Result<GuardedTensor> Filled(DType type, const Shape& shape);

  /// A copy of `right`, for an input that nobody may write into.
  static Result<GuardedTensor> CopyOf(const Tensor& right);

  /// In the guarded memory, which lives as long as this object.
  const Tensor& tensor() const { return tensor_; }

  /// "3 bytes behind its end" where the guards differ from what they were;
  /// empty when they are whole.
  std::string Damage() const;

 private:
  std::shared_ptr<std::byte> memory_;  // guard, elements, guard
  int64_t size_ = 0;                   // of the elements
  Tensor tensor_;
};

}  // namespace assay::measure

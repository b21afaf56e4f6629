// SPDX-License-Identifier: Apache-2.0
//
// Preparation: what a kernel's prepare made, with the shapes and values that it
// was made for. A step of a frame keeps one, so that each binding has its own.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "framework/backend/eager/kernel.h"

namespace assay::eager {

class Preparation {
 public:
  /// The tensor of an input; null where it is omitted or none.
  using ValueOf = std::function<Result<const Tensor*>(Input)>;

  /// Calls `prepare` with inputs of these types, one for each, and notes what
  /// it asks for. After an error nothing fits.
  Status Make(const std::function<Prepared(PrepareContext&)>& prepare,
              std::span<const ValueType> types, const ValueOf& value_of);

  /// True when something was made for inputs like those of `run`.
  bool Fits(const KernelContext& run) const;

  /// Null where nothing was made.
  void* made() const { return made_.get(); }

  /// The type that the kernel declared of an output; kNone where it did not.
  const ValueType& declared(Output output) const;

 private:
  class Asked;

  struct SeenType {
    Input input;
    ValueType type;
    std::optional<Shape> shape;  // of a tensor
  };
  struct SeenValue {
    Input input;
    Tensor tensor;  // a copy; undefined where there was none
  };

  bool valid_ = false;
  std::shared_ptr<void> made_;
  std::vector<SeenType> types_;
  std::vector<SeenValue> values_;
  std::vector<ValueType> declared_;  // by position of the output
};

}  // namespace assay::eager

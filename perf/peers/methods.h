// SPDX-License-Identifier: Apache-2.0
//
// Gradient checkers of other projects, each from its published description, to
// be tried on the defects that the suite is tried on.

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/draw/draw.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck::peers {

using Numbers = std::vector<double>;

/// Elements [begin, end) of a row of numbers: those of one tensor.
struct Block {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

/// A network as other gradient checkers see it, from numbers to numbers: all
/// targets in a row, all outputs that carry gradients in a row.
class Function {
 public:
  /// `subject` must outlive it.
  static Result<Function> Load(Backend& backend, const suite::Subject& subject);

  const Numbers& x() const { return x_; }
  const std::vector<Block>& inputs() const { return inputs_; }
  const std::vector<Block>& outputs() const { return outputs_; }
  DType type() const { return type_; }
  size_t n_out() const { return outputs_.empty() ? 0 : outputs_.back().end; }

  /// The outputs at `x`, each number rounded to the type of its target. What
  /// Backward gives is the gradient there.
  Result<Numbers> At(const Numbers& x);

  /// The gradient for cotangents; those of output `absent` are left out.
  Result<Numbers> Backward(const Numbers& dy, int absent = kNone);
  static constexpr int kNone = -1;

 private:
  explicit Function(Trial trial) : trial_(std::move(trial)) {}

  Trial trial_;
  DType type_ = DType::kUndefined;
  Numbers x_;
  std::vector<bool> flows_;  // by output of the model
  std::vector<Block> inputs_, outputs_;
};

struct Method {
  std::string_view name;
  /// True when it is meant for float64 alone, whatever the case's type is.
  bool in_float64 = false;
  /// True when nothing is wrong with the gradients of f.
  Result<bool> (*check)(Function& f, Draw& draw) = nullptr;
};

std::span<const Method> Methods();

}  // namespace assay::gradcheck::peers

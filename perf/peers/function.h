// SPDX-License-Identifier: Apache-2.0
//
// Function: a network as other gradient checkers see it, from numbers to
// numbers: all targets in a row, all outputs that carry gradients in a row.
//
//   ASSAY_ASSIGN_OR_RETURN(Function f, Function::Load(backend, subject));
//   ASSAY_ASSIGN_OR_RETURN(const auto y, f.At(f.x()));
//   ASSAY_ASSIGN_OR_RETURN(const auto dx, f.Backward(dy));

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/suite/question.h"
#include "gradcheck/run/trial.h"

namespace assay::gradcheck::peers {

using Numbers = std::vector<double>;

/// Elements [begin, end) of a row of numbers: those of one tensor.
struct Block {
  size_t begin = 0, end = 0;
  size_t size() const { return end - begin; }
};

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

/// A Jacobian of more elements takes minutes for each mutant.
inline constexpr size_t kMostOfJacobian = 300'000;

/// Unsupported where the Jacobian of f has more elements than that.
Status CheckJacobian(const Function& f);

/// (f(x + h d) - f(x - h d)) / 2h. Leaves f at its x.
Result<Numbers> CentralDifference(Function& f, const Numbers& direction,
                                  double step);

/// True where every element of the Jacobian by central differences, one input
/// element at a time, agrees with that by one backward for each output element.
Result<bool> JacobiansAgree(
    Function& f, double step,
    const std::function<bool(double analytic, double numeric)>& agree);

}  // namespace assay::gradcheck::peers

// SPDX-License-Identifier: Apache-2.0
//
// Problem: what optimizers are tried on, with an optimum that is known. Its
// gradient is given in double for the framework and in quad for the judge.
//
//   for (const Problem& problem : Problems()) {
//     ProblemObjective objective(problem, DType::kFloat32);
//     ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(objective));
//   }

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/quad/quad.h"

namespace assay::quad {

/// The gradients of some parameters, in their order.
using GradientOf =
    std::function<std::vector<QuadTensor>(const std::vector<QuadTensor>& x)>;

struct Problem {
  std::string name;
  /// Two parameters, by their elements.
  std::vector<std::vector<double>> start, optimum;
  GradientOf gradient_of;

  /// The norm of what x is away from the optimum.
  double DistanceOf(const std::vector<QuadTensor>& x) const;
};

/// A quadratic of condition 100, and a logistic regression.
std::span<const Problem> Problems();

/// A problem with its parameters as tensors of float32 or float64. Gradients
/// are those of the tensors' values, rounded once, so that nothing but the
/// optimizer differs from the judge. The loss is the squared distance from the
/// optimum.
class ProblemObjective : public train::Objective {
 public:
  ProblemObjective(const Problem& problem, DType type);
  std::span<train::Parameter> parameters() override { return parameters_; }
  Result<train::Evaluation> Evaluate() override;

 private:
  const Problem& problem_;
  std::vector<train::Parameter> parameters_;
  std::vector<Tensor> gradients_;
};

/// e^x, off by less than 2^-95 of itself for |x| up to 1000.
Quad Exponential(Quad x);

/// The elements of a tensor of float32 or float64.
QuadTensor InQuad(const Tensor& tensor);

/// How far numbers are from those wanted.
struct Spread {
  double l2 = 0, linf = 0;
  double norm = 0, greatest = 0;  // of those wanted: l2, and of their absolutes
};

/// Of a tensor of float32 or float64.
Spread SpreadOf(const Tensor& got, const QuadTensor& want);

}  // namespace assay::quad

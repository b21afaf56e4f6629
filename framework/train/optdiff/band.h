// SPDX-License-Identifier: Apache-2.0
//
// Band: how far runs of one optimizer drift apart by roundings alone. It runs
// the rule in quad several times. At each step one rounding of the judged type,
// up or down, is added to every parameter before the gradient is taken, to
// every element of the gradient, and to every parameter after the step. The
// gradient is also moved by as much as the judged run's gradient was off.
//
//   ASSAY_ASSIGN_OR_RETURN(Band band,
//                          Band::Of(rule, start, DType::kFloat32, draw));
//   band.Step({.step = 1}, gradient_of, off);
//   band.Reach(wanted)[0];   // of the first parameter, an l2

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/quad/problem.h"
#include "framework/train/quad/quad_rule.h"
#include "framework/train/quad/quad_setting.h"

namespace assay::optdiff {

/// An optimizer in quad, by its name and settings.
struct RuleName {
  std::string optimizer;
  quad::SettingTexts settings;
};

class Band {
 public:
  static constexpr int kRuns = 5;

  /// `start` are the parameters.
  static Result<Band> Of(const RuleName& rule,
                         const std::vector<quad::QuadTensor>& start, DType type,
                         draw::Draw draw);

  /// `off` has the l2 by which each gradient of the judged run is off.
  void Step(const quad::QuadRule::StepInfo& at,
            const quad::GradientOf& gradient_of, std::span<const double> off);

  /// For each parameter the greatest l2 distance of a run from `wanted`, the
  /// parameters of the run without roundings, in this step or any before it.
  std::vector<double> Reach(const std::vector<quad::QuadTensor>& wanted);

 private:
  struct Run {
    std::unique_ptr<quad::QuadRule> rule;
    std::vector<quad::QuadTensor> x;
  };

  Band(double roundoff, draw::Draw draw) : roundoff_(roundoff), draw_(draw) {}

  std::vector<quad::QuadTensor> Rounded(std::vector<quad::QuadTensor> tensors);

  double roundoff_;
  draw::Draw draw_;
  std::vector<Run> runs_;
  std::vector<double> reach_;
};

}  // namespace assay::optdiff

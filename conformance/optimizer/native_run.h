// SPDX-License-Identifier: Apache-2.0
//
// NativeRun: a backend that takes whole steps itself (NativeStep), beside the
// judge.
//
// Its gradients and its state cannot be seen. So the rule in quad begins each
// step at the backend's parameters, takes the judge's gradients there, and
// keeps a state of its own.

#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/optimizer/optimizer.h"
#include "framework/train/quad/quad.h"
#include "framework/train/rule/optimizers.h"

namespace assay::optimizer {

class NativeRun {
 public:
  /// Unsupported for a backend that has no native step, gives no parameters or
  /// does not have the optimizer. The course must outlive it.
  static Result<std::unique_ptr<NativeRun>> Begin(
      const optdiff::Course& course, const train::Wanted& wanted,
      Backend& backend, std::shared_ptr<optdiff::JudgeNetwork> judge,
      draw::Draw draw);

  /// Takes one step of both and says what is wrong with it.
  Result<optdiff::StepFault> Step(int64_t step, optdiff::StepRows* rows);
  /// True once the backend has taken a step; before that it may decline.
  bool has_run() const { return has_run_; }

 private:
  NativeRun(const optdiff::Course& course,
            std::shared_ptr<optdiff::JudgeNetwork> judge, draw::Draw draw)
      : course_(course), judge_(std::move(judge)), draw_(draw) {}

  Status Load(Backend& backend);
  Status Configure(const train::Wanted& wanted);
  Status Put(const std::vector<Tensor>& batch);
  Result<std::vector<train::Parameter>> Read();
  Result<double> Loss() const;
  optdiff::StepFault FaultOfLoss(double exact, double explained,
                                 optdiff::StepRows* rows);
  optdiff::StepFault FaultOfUpdate(const std::vector<train::Parameter>& after,
                                   optdiff::StepRows* rows);

  const optdiff::Course& course_;
  std::shared_ptr<optdiff::JudgeNetwork> judge_;
  draw::Draw draw_;
  std::unique_ptr<Network> network_;
  std::vector<Value> inputs_;
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<quad::QuadRule> rule_;
  std::vector<quad::QuadTensor> x_;
  std::vector<double> greatest_;  // |x| of each parameter in all steps
  double loss_ = 0;
  bool has_run_ = false;
};

}  // namespace assay::optimizer

// SPDX-License-Identifier: Apache-2.0
//
// Duel: two training runs in step, each beside its judge, and their
// differences.
//
// Both begin each step where run a ended the one before.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/record/record.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/other_thread.h"
#include "framework/train/quad/lockstep_quad.h"
#include "framework/train/quad/quad.h"

namespace assay::bisect {

struct Runner {
  std::string instance;  // of the backend
  Backend& backend;
  quad::OptimizerSpec spec;    // the optimizer as it is named
  quad::OptimizerSetup setup;  // the optimizer that runs
};

struct FirstFault {
  int64_t step = 0;
  optdiff::StepFault fault;
};

/// The tensor by which the two first differ by more than roundings explain: a
/// gradient, or an update whose gradients do not explain it.
struct FirstDifference {
  int64_t step = 0;
  std::string tensor;
  double l2 = 0, limit = 0;
};

class Duel {
 public:
  /// Declines and throws as LockedRun::Begin does.
  static Result<std::unique_ptr<Duel>> Begin(const optdiff::Course& course,
                                             Runner a, Runner b,
                                             const optdiff::JudgeOf& judge,
                                             draw::Draw draw);

  /// Takes one step of both; the rows of its tensors go to the record. A failed
  /// Status, with the run's name, where one of them did not run.
  Status Step(int64_t step, record::Record* record);

  const std::optional<FirstFault>& a_fault() const { return a_.fault; }
  const std::optional<FirstFault>& b_fault() const { return b_.fault; }
  const optdiff::Undecided& a_undecided() const { return a_.run->undecided(); }
  const optdiff::Undecided& b_undecided() const { return b_.run->undecided(); }
  const std::optional<FirstDifference>& difference() const {
    return difference_;
  }
  double a_loss() const { return a_.run->objective().backend_loss(); }
  double b_loss() const { return b_.run->objective().backend_loss(); }

 private:
  struct Side {
    std::string instance;
    std::unique_ptr<optdiff::LockedRun> run;
    std::optional<FirstFault> fault = {};
  };
  struct Pair {
    std::string tensor;
    Tensor a, b;
    double oracle_a = 0, oracle_b = 0;  // l2 from the judge
    double explained = 0;  // l2 that roundings and gradients explain
  };

  Duel(Side a, Side b, std::unique_ptr<quad::QuadRule> cross,
       optdiff::StepRow names)
      : a_(std::move(a)),
        b_(std::move(b)),
        cross_(std::move(cross)),
        names_(std::move(names)) {}

  static Status StepOne(int64_t step, Side* side);
  void StepAcross(int64_t step);
  void AddGradients(std::vector<Pair>* pairs);
  void AddUpdates(std::vector<Pair>* pairs);
  void Lock();
  void LockAcross();

  Side a_, b_;
  /// Run b's rule, which takes the gradients of run a.
  std::unique_ptr<quad::QuadRule> cross_;
  bool is_one_rule_ = false;
  std::vector<quad::QuadTensor> x_;
  optdiff::StepRow names_;
  std::optional<FirstDifference> difference_;
  train::OtherThread other_;  // for run b
};

}  // namespace assay::bisect

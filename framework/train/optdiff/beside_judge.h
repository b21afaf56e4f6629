// SPDX-License-Identifier: Apache-2.0
//
// BesideJudge: a network of a backend as an objective, and the judge's at the same
// place each time.
//
//   BesideJudge both(std::move(objective), judge, draw);
//   ASSAY_RETURN_IF_ERROR(both.Put(narrow, wide));
//   ASSAY_ASSIGN_OR_RETURN(const double loss, optimizer.Step(both));
//   both.gradients()[0].share();   // 1 where one rounding explains it
//
// What roundings explain is seen by a second run of the judge, whose parameters and
// inputs are each off by one roundoff of the backend's type: of a sum of products
// that is what a rounding of each product does. It is a sieve and no verdict.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/network_objective.h"
#include "framework/train/optdiff/judge_network.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// A tensor of a backend beside the judge's.
struct Distance {
  double l2 = 0, linf = 0;
  double norm = 0;       // l2 of what is wanted
  double max_ulp = 0;    // of the backend's type
  double explained = 0;  // l2 that one rounding of each number causes

  double relative() const { return l2 == 0 ? 0 : l2 / norm; }
  /// How many roundings l2 is; NaN where a number is none.
  double share() const { return l2 == 0 ? 0 : l2 / explained; }
};

/// `got` of float32 or float64 beside as many numbers.
Distance DistanceOf(const Tensor& got, std::span<const double> want);

class BesideJudge : public train::Objective {
 public:
  /// The judge may be shared with others and has the same parameters. What roundings
  /// explain is asked for at each of the first steps, and then at every
  /// `rounded_every`th: in between it is the share of the norm that it was last.
  BesideJudge(std::unique_ptr<train::NetworkObjective> backend,
              std::shared_ptr<JudgeNetwork> judge, draw::Draw draw,
              int64_t rounded_every = 1)
      : backend_(std::move(backend)),
        judge_(std::move(judge)),
        draw_(draw),
        rounded_every_(rounded_every) {}

  std::span<train::Parameter> parameters() override {
    return backend_->parameters();
  }
  /// The step of masks, from 0.
  void At(int64_t step) { backend_->At(step_ = step); }
  /// The batch in the backend's type, and in float64.
  Status Put(std::span<const Tensor> narrow, std::span<const Tensor> wide);
  /// The backend's, after which the rest is about it.
  Result<train::Evaluation> Evaluate() override;

  /// Draws more roundings at the place of the last evaluation, and more of them at
  /// once, until they explain that much of a gradient or there are enough: one draw need
  /// not take an activation across a kink that is near. What is explained grows to what
  /// the worst of them did.
  Status LookAgain(size_t gradient, double share);

  /// True once the backend has answered: it declines before.
  bool has_run() const { return n_runs_ > 0; }
  std::span<const Distance> gradients() const { return gradients_; }
  const Distance& loss() const { return loss_distance_; }
  double backend_loss() const { return loss_; }
  double judge_loss() const { return judge_loss_; }
  /// The backend's gradients, as they were before an optimizer clips them, and
  /// the parameters that they were taken at.
  std::span<const Tensor> got() const { return got_; }
  std::span<const train::Parameter> place() const { return place_; }
  Place PlaceOf(std::span<const Tensor> batch) const {
    return {batch, place_, given_, step_};
  }
  /// The statistics that were fed back, beside the judge's: each as it was, as it is,
  /// and as it should be.
  struct FedBack {
    std::string name;
    std::vector<double> before, got, wanted;
    Distance distance;
  };
  std::span<const FedBack> statistics() const { return fed_back_; }
  /// Shares its memory with the backend's network.
  std::vector<train::StateTensor> Statistics() const {
    return backend_->Statistics();
  }

 private:
  /// What one rounding did, when it was last looked at, and the norm then.
  struct Rounding {
    double l2 = 0, norm = 0;
  };

  Status KeepPlace();
  Status KeepMasks();
  void Compare(const JudgeNetwork::Answer& exact);
  Status SeeRoundings(const JudgeNetwork::Answer& exact);
  void Explain();
  double Explained(const Rounding& rounding, double norm) const;
  double Roundoff() const;

  std::unique_ptr<train::NetworkObjective> backend_;
  std::shared_ptr<JudgeNetwork> judge_;
  draw::Draw draw_;
  int64_t rounded_every_;
  std::vector<Tensor> wide_;
  int64_t n_runs_ = 0;
  double loss_ = 0, judge_loss_ = 0;
  Distance loss_distance_;
  std::vector<Distance> gradients_;
  std::vector<FedBack> fed_back_;
  // Of the loss, then of each gradient, then of each statistic.
  std::vector<Rounding> rounded_;
  std::vector<Tensor> got_;
  std::vector<train::Parameter> place_, given_;
  int64_t step_ = 0;
};

}  // namespace assay::optdiff

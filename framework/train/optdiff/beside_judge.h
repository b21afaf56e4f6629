// SPDX-License-Identifier: Apache-2.0
//
// JudgeNetwork and BesideJudge: a network of a backend as an objective, whose
// evaluations the judge's network in float64 repeats at the same place.
//
// To see what roundings explain, the judge runs once more with every parameter
// and input off by one roundoff of the backend's type. In a sum of products
// that is the effect of rounding each product. It is a sieve and no verdict.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/testing/draw/draw.h"
#include "framework/train/network_objective.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::optdiff {

/// A batch and where the parameters are.
struct Place {
  /// The tensor of an input: the one of its name, or the next of the batch.
  Tensor InputOf(std::string_view name, size_t* next) const;

  std::span<const Tensor> batch;
  std::span<const train::Parameter> parameters;
  /// Running statistics before the step and the masks in it.
  std::span<const train::Parameter> given = {};
  int64_t step = 0;  // of the masks, from 0
};

/// The judge's network in float64. It gives its loss and gradients at the place
/// of another network. Several threads may ask it; it answers one after the
/// other.
class JudgeNetwork {
 public:
  struct Answer {
    double loss = 0;
    std::vector<std::vector<double>> gradients;   // of each parameter
    std::vector<std::vector<double>> statistics;  // as they are fed back
  };

  /// Its parameters are of float64.
  explicit JudgeNetwork(std::unique_ptr<train::NetworkObjective> objective)
      : objective_(std::move(objective)) {}

  /// The batch is of float64. Asking twice in a row at one place costs one
  /// evaluation.
  Result<std::shared_ptr<const Answer>> At(const Place& place);

  /// Does the same with one roundoff, up or down, added to each parameter and
  /// each number of the batch.
  Result<Answer> Rounded(const Place& place, double roundoff, draw::Draw* draw);

 private:
  bool IsLast(const Place& place) const;
  void Go(const Place& place);
  Result<Answer> Evaluate(std::span<const Tensor> batch);

  std::mutex mutex_;
  std::unique_ptr<train::NetworkObjective> objective_;
  std::shared_ptr<const Answer> last_;
  std::vector<Tensor> last_batch_, last_parameters_, last_given_;
};

/// The root of the sum of the squares of a - b.
double L2(std::span<const double> a, std::span<const double> b);

/// A tensor of a backend beside the judge's.
struct Distance {
  double l2 = 0, linf = 0;
  double norm = 0;       // l2 of what is wanted
  double max_ulp = 0;    // of the backend's type
  double explained = 0;  // l2 that one rounding of each number causes

  double relative() const { return l2 == 0 ? 0 : l2 / norm; }
  /// How many roundings l2 amounts to; NaN where a number is NaN.
  double share() const { return l2 == 0 ? 0 : l2 / explained; }
};

/// Compares `got`, of float32 or float64, with as many numbers.
Distance DistanceOf(const Tensor& got, std::span<const double> want);

class BesideJudge : public train::Objective {
 public:
  /// The judge may be shared with others and has the same parameters. Roundings
  /// are looked at in each of the first 10 steps, then in every
  /// `rounded_every`th. In between the last answer is scaled with the norm.
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
  /// Takes the batch in the backend's type, and in float64.
  Status Put(std::span<const Tensor> narrow, std::span<const Tensor> wide);
  /// Without it, an evaluation is the backend's alone, as it looks to it.
  void Watch(bool watches) { watches_ = watches; }
  /// Evaluates the backend and the judge. The getters below are about this
  /// evaluation.
  Result<train::Evaluation> Evaluate() override;

  /// Draws up to 16 more sets of roundings, four times as large, at the place
  /// of the last evaluation, until the gradient's share is at most `share`. One
  /// draw may leave an activation on its side of a near kink; more draws cross
  /// it. `explained` grows to the worst draw.
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
  /// A statistic that was fed back: before the step, after it, and as the judge
  /// has it after it.
  struct FedBack {
    std::string name;
    std::vector<double> before, got, wanted;
    Distance distance;
  };
  std::span<const FedBack> statistics() const { return fed_back_; }
  /// The backend's statistics, in its network's memory.
  std::vector<train::StateTensor> Statistics() const {
    return backend_->Statistics();
  }

 private:
  /// The effect of one rounding when it was last looked at, and the norm then.
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
  // For the loss, then for each gradient, then for each statistic.
  std::vector<Rounding> rounded_;
  std::vector<Tensor> got_;
  std::vector<train::Parameter> place_, given_;
  int64_t step_ = 0;
  bool watches_ = true;
};

}  // namespace assay::optdiff

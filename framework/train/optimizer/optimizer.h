// SPDX-License-Identifier: Apache-2.0
//
// Optimizer: what changes the parameters of a network from their gradients. The
// three tiers are those of the Deep500 thesis, chapter 4: the whole step, three
// steps, or the update rule alone.
//
// A rule of one's own is UpdateRule, and StateOfEach where it keeps something;
// see framework/train/README.md.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/optimizer/recipe.h"

namespace assay::train {

/// A tensor that is trained: float32 or float64, written in place.
struct Parameter {
  std::string name;
  Tensor value;
};

/// The loss at the parameters as they are, and its gradient for each of them,
/// in their order, of the type and shape of the parameter. The gradients are
/// the objective's until it is evaluated again; an optimizer may write into
/// them.
struct Evaluation {
  double loss = 0;
  std::span<Tensor> gradients;
};

/// The function that an optimizer minimizes: a network with its loss on the
/// batch in hand, or a formula.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::span<Parameter> parameters() = 0;
  virtual Result<Evaluation> Evaluate() = 0;
};

/// A tensor of state, and of which parameter: empty for one of all together.
struct StateTensor {
  std::string parameter;
  std::string name;
  Tensor value;  // shares its memory with the optimizer
};

/// The first tier. One optimizer trains one objective's parameters.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Takes the memory of its state. The first step does where nobody did
  /// before.
  virtual Status Begin(std::span<const Parameter> parameters) = 0;
  /// One step. Returns the loss that its gradients are of. After a failure the
  /// parameters may be between two steps.
  virtual Result<double> Step(Objective& objective) = 0;
  /// Everything that the next step depends on beside the parameters, once it
  /// has begun; what is written into it is what the next step begins with.
  virtual std::vector<StateTensor> State() = 0;
};

/// A tensor of state that each parameter has: of its type and shape, or one
/// float64.
struct Slot {
  std::string name;
  double initial = 0;
  bool is_scalar = false;
};
/// Those of one parameter, in their order.
using Slots = std::vector<Tensor>;

/// Where a run is: what changes from step to step and from group to group.
struct Progress {
  int64_t step = 1;         // of the first step
  double rate = 0;          // base rate times schedule times the group's scale
  double schedule = 1;      // the schedule's factor alone
  double weight_decay = 0;  // of the group
  double own_decay = 0;     // the same where the rule itself decays, else 0
};

/// The second tier: before the gradients each parameter can be moved to where
/// they are to be taken, and behind them each is updated from its own.
class ThreeStepOptimizer : public Optimizer {
 public:
  explicit ThreeStepOptimizer(Recipe recipe) : recipe_(std::move(recipe)) {}
  Status Begin(std::span<const Parameter> parameters) final;
  Result<double> Step(Objective& objective) final;
  std::vector<StateTensor> State() final;

 protected:
  /// The slots of each parameter's state. They are asked for before the first
  /// step.
  virtual std::vector<Slot> StateOfEach() const { return {}; }
  virtual Status NewInput(const Progress&) { return OkStatus(); }
  /// Moves a parameter to where the gradient is taken.
  virtual Status PrepareParameter(const Progress&, Slots&, Tensor*) {
    return OkStatus();
  }
  /// Moves it back to where the step is taken from, behind the gradients and
  /// before weights decay apart from them.
  virtual Status RestoreParameter(const Progress&, Slots&, Tensor*) {
    return OkStatus();
  }
  /// The gradients as the rule takes them, clipped, in the order of parameters.
  virtual Status NewGradients(const Progress&, std::span<const Tensor>) {
    return OkStatus();
  }
  /// The parameter's next value, in place.
  virtual Status UpdateRule(const Progress& at, const Tensor& gradient,
                            Slots& slots, Tensor* parameter) = 0;

 private:
  struct Member {
    std::string name;
    Group group;
    Slots slots;
  };

  Status Prepare(std::span<Parameter> parameters);
  Status Update(std::span<Parameter> parameters, std::span<Tensor> gradients);
  Progress At(const Member& member) const;

  Recipe recipe_;
  Tensor steps_;  // int64[]: steps done
  std::vector<Slot> layout_;
  std::vector<Member> members_;
};

/// The third tier: a formula of one parameter, its gradient and its state.
class UpdateRuleOptimizer : public ThreeStepOptimizer {
 public:
  using ThreeStepOptimizer::ThreeStepOptimizer;

 protected:
  Status NewInput(const Progress&) final { return OkStatus(); }
  Status PrepareParameter(const Progress&, Slots&, Tensor*) final {
    return OkStatus();
  }
  Status RestoreParameter(const Progress&, Slots&, Tensor*) final {
    return OkStatus();
  }
  Status NewGradients(const Progress&, std::span<const Tensor>) final {
    return OkStatus();
  }
};

template <class OwnSettings, class Tier = UpdateRuleOptimizer>
class WithSettings : public Tier {
 public:
  WithSettings(Recipe recipe, const OwnSettings& settings)
      : Tier(std::move(recipe)), settings_(settings) {}

 protected:
  const OwnSettings settings_;
};

}  // namespace assay::train

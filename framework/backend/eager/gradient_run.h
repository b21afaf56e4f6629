// SPDX-License-Identifier: Apache-2.0
//
// GradientRun: the backward run of a frame for one choice of targets,
// cotangents and memory, with a context for every step. A GradientRun looks up
// each thing once, and allocates nothing from its second run on.
//
//   ASSAY_ASSIGN_OR_RETURN(auto run, GradientRun::Make(plan, frame, cotangents,
//                                                      targets));
//   ASSAY_RETURN_IF_ERROR(run->SetMemory({}));
//   ASSAY_RETURN_IF_ERROR(frame.Run());
//   ASSAY_RETURN_IF_ERROR(run->Run());
//   Use(run->gradients()[0]);
//
// Every value has one Flow. The first kernel that asks for the gradient of a
// value writes into the memory of its flow, which for a target is the target's
// own memory. Later kernels write into memory of their own, whose gradients are
// added to the flow.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/eager/flow/flow.h"
#include "framework/backend/eager/frame.h"
#include "framework/backend/eager/gradient.h"
#include "framework/backend/network_interfaces.h"

namespace assay::eager {

class StepGradient;  // one step backward

class GradientRun final : public GradientBinding {
 public:
  ~GradientRun() override;
  /// As Differentiable::BindBackward, of a frame that has run. `plan` and
  /// `frame` must outlive it.
  static Result<std::unique_ptr<GradientRun>> Make(
      const GradientPlan& plan, const Frame& frame,
      std::span<const Value> cotangents, std::span<const std::string> targets);

  /// The names and types of the targets.
  std::vector<ValueInfo> targets() const;

  /// Once, before the first run: where the gradients go, as CheckGradients
  /// demands it of the targets.
  Status SetMemory(std::span<const Value> gradients);

  /// Failed precondition where the last run of the frame did not come to its
  /// end. Errors of a kernel name the node.
  Status Run();

  std::span<const Value> gradients() const override { return gradients_; }
  std::vector<Value> TakeGradients() { return std::move(gradients_); }

  /// True when it was made with this plan.
  bool IsOf(const GradientPlan& plan) const { return &plan_ == &plan; }

 private:
  GradientRun(const GradientPlan& plan, const Frame& frame);

  struct Target {
    ValueId id;
    flow::Flow* flow;
    const Value* same = nullptr;  // the gradient of a target named before
  };
  /// The cotangent of an output, where it is given and matters.
  struct Seed {
    size_t output;
    flow::Flow* flow;
  };

  Status AddTargets(std::span<const std::string> targets);
  /// A flow for each value that depends on a target, and the steps between.
  void AddSteps();
  Status AddSeeds(std::span<const Value> cotangents);
  Status CheckCotangent(size_t output) const;
  flow::Flow* FlowOf(ValueId id);  // made where there is none

  Status RunSteps();
  Status Settle();

  const GradientPlan& plan_;
  const Frame& frame_;
  std::vector<Value> cotangents_;                   // by output
  std::vector<Value> gradients_;                    // by target
  std::vector<std::unique_ptr<flow::Flow>> flows_;  // by ValueId
  std::vector<std::unique_ptr<flow::Flow>> again_;  // of targets named before
  std::vector<flow::Flow*> used_;                   // all of them
  std::vector<Target> targets_;
  std::vector<Seed> seeds_;
  std::vector<StepGradient> steps_;  // in reverse
};

/// The same once, with gradients that are freshly owned.
Result<std::vector<Value>> RunBackward(const GradientPlan& plan,
                                       const Frame& frame,
                                       std::span<const Value> cotangents,
                                       std::span<const std::string> targets);

}  // namespace assay::eager

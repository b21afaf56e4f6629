// SPDX-License-Identifier: Apache-2.0
//
// Trial: a backend's network loaded for gradients, bound to a case's inputs in
// guarded memory, and run.
//
//   ASSAY_ASSIGN_OR_RETURN(auto trial, Trial::Load(backend, subject));
//   ASSAY_RETURN_IF_ERROR(trial.Forward());
//   ASSAY_ASSIGN_OR_RETURN(auto dx, trial.Backward(dy, trial.targets()));

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/network_interfaces.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/measure/recheck.h"
#include "framework/testing/suite/suite.h"
#include "gradcheck/case/gradient_case.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

class Trial {
 public:
  /// Loads and binds; declines as the backend does.
  static Result<Trial> Load(Backend& backend, const suite::Subject& subject);

  Status Forward();
  /// The outputs of the last Forward.
  std::span<const Value> outputs() const { return binding_->outputs(); }

  /// Takes cotangents in float64, and rounds them to the types of the outputs.
  Result<std::vector<Value>> Backward(std::span<const Value> cotangents,
                                      std::span<const std::string> targets);
  /// Does the same for each ask in order, and stops at the first that fails,
  /// which is the last one returned.
  std::vector<host::Pulled> BackwardEach(
      std::span<const host::BackwardAsk> asks);

  const std::vector<std::string>& targets() const { return subject_->targets; }
  /// The cotangents of that kind of a case, for the outputs of the last
  /// Forward.
  Result<std::vector<Value>> Directions(Cotangent kind,
                                        const GradientCase& c) const;
  /// AccumulatorOf the case; its own type where the network runs a function's
  /// body, of many nodes.
  DType Accumulator(const GradientCase& c) const;
  const suite::Subject& subject() const { return *subject_; }
  Backend& backend() { return *backend_; }
  /// The index of a target among the inputs.
  size_t PlaceOf(size_t target) const { return places_[target]; }
  /// True when the target is an input; an initializer keeps its numbers.
  bool IsFed(size_t target) const { return target < places_.size(); }
  bool FeedsTargets() const { return places_.size() == targets().size(); }
  /// True when all targets are inputs of float64, and all outputs with
  /// cotangents are of float64.
  bool IsInDouble() const;
  /// Reads the elements of a target that is an input; Put writes others.
  Result<std::vector<double>> NumbersOf(size_t target) const;
  Status Put(size_t target, std::span<const double> numbers);

  /// Runs one Forward for each of `runs`, whose elements take the place of
  /// those of all targets, which are inputs, and shows its outputs to `sees`.
  /// The last elements stay there; outputs() says nothing until the next
  /// Forward.
  Status ForwardEach(std::span<const std::vector<std::vector<double>>> runs,
                     const host::SeesRun& sees);

  /// Runs Forward of the first binding: with these elements, of the inputs'
  /// types and shapes; with the targets' elements in reverse order; with its
  /// own again.
  Status ForwardOf(std::span<const Value> inputs);
  Status ForwardOfOthers();
  Status ForwardOfOwn() { return ForwardOf(subject_->inputs[0]); }
  /// Runs Forward of a second binding of the network, on the reversed elements.
  Status ForwardOfOtherBinding();

  /// Binds the gradients of all targets to the first binding, as
  /// Differentiable::BindBackward does. Never null.
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      std::span<const Value> cotangents, std::span<const Value> gradients);
  Status RunBackward(GradientBinding& bound);
  /// Rounds cotangents of float64 to the types of the outputs.
  Result<std::vector<Value>> InTypes(std::span<const Value> cotangents) const;

  /// Says where somebody wrote into an input or a cotangent, or beside one, as
  /// "input 'x': 3 bytes behind its end"; empty where nobody did.
  std::string Damage() const;

  int64_t n_forward() const { return n_forward_; }
  int64_t n_backward() const { return n_backward_; }
  int64_t load_us() const { return load_us_; }
  int64_t forward_us() const { return forward_us_; }
  int64_t backward_us() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(backward_)
        .count();
  }

 private:
  Trial() = default;

  Status Bind();
  Result<std::vector<Value>> Others() const;

  Backend* backend_ = nullptr;
  const suite::Subject* subject_ = nullptr;
  /// The indices of the targets among the inputs. Initializers come after them
  /// and have none.
  std::vector<size_t> places_;
  std::unique_ptr<Network> network_;
  std::vector<Value> inputs_;  // in guarded memory where they are tensors
  std::vector<measure::GuardedTensor> guards_;
  std::vector<std::string> guarded_;  // their names
  std::unique_ptr<Binding> binding_;
  std::unique_ptr<Binding> second_;
  std::string damage_;
  int64_t n_forward_ = 0, n_backward_ = 0;
  int64_t load_us_ = 0, forward_us_ = 0;
  std::chrono::nanoseconds backward_{0};
};

}  // namespace assay::gradcheck

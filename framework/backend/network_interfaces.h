// SPDX-License-Identifier: Apache-2.0
//
// Optional interfaces of a Network beyond Forward. A backend that lacks one
// returns null for it, and the suites that need it decline.
//
//   if (Differentiable* d = network->differentiable()) {
//     ASSAY_ASSIGN_OR_RETURN(auto grads, d->Backward(*binding, dy, targets));
//   }
//
// A step that is repeated binds its gradients once:
//
//   ASSAY_ASSIGN_OR_RETURN(auto bound,
//                          d->BindBackward(*binding, dy, targets, dx));
//   ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
//   ASSAY_RETURN_IF_ERROR(d->RunBackward(*bound));  // into dx
//
// Exact, the interface of an oracle, stands in exact.h.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::inline v1 {

class Binding;
class Exact;  // exact.h

/// Targets, cotangents and memory tied to a binding, ready for any number of
/// backward runs.
class GradientBinding {
 public:
  virtual ~GradientBinding() = default;
  GradientBinding() = default;
  GradientBinding(const GradientBinding&) = delete;
  GradientBinding& operator=(const GradientBinding&) = delete;

  /// One per target, in order. Caller-owned where the caller gave memory; else
  /// written by each run. A copy of such a Value keeps its bytes: memory of the
  /// network's own that somebody else still holds is not written into again.
  virtual std::span<const Value> gradients() const = 0;
};

/// Vector-Jacobian products of the bound values.
///
/// A backward run belongs to the last Forward of its binding: it reads what
/// that one left. Inputs are not copied for it: where the caller has written
/// into the memory of an input since, the gradients are unspecified until the
/// next Forward. Failed precondition where there was no Forward, or the last
/// one failed.
class Differentiable {
 public:
  virtual ~Differentiable() = default;

  /// After Forward of `binding`: given a cotangent per output (of the output's
  /// type and shape; a default Value counts as zeros), the gradient of their
  /// inner product with the outputs, for each value named in `targets`: an
  /// input, a parameter or an extra output that LoadOptions listed. Results
  /// are freshly owned, of the value's type and shape.
  virtual Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) = 0;

  /// After a first Forward of `binding`, which must outlive the result: ties
  /// these to it. `gradients` is empty, or has one value per target: a tensor
  /// of the caller's to write into, or a default Value. Cotangents stay where
  /// they are: each run reads their memory, which the caller refills in place.
  /// Invalid argument for a wrong count, kind, element type or shape, and where
  /// the memory of a gradient overlaps that of a cotangent, an output, an input
  /// or another gradient.
  ///
  /// The default stands on Backward, which must be done when it returns; it
  /// tries it once, and does not see the memory of inputs. Who overrides one of
  /// these two overrides both.
  virtual Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets, std::span<const Value> gradients);

  /// After Forward of the binding: writes the gradients, over what their memory
  /// holds.
  virtual Status RunBackward(GradientBinding& bound);
};

/// The trainable initializers.
class Parameters {
 public:
  virtual ~Parameters() = default;
  virtual std::vector<std::string> List() const = 0;
  /// A copy, and an overwrite that keeps type and shape.
  virtual Result<Tensor> Read(std::string_view name) const = 0;
  virtual Status Write(std::string_view name, const Tensor& value) = 0;
  /// The memory that the network reads, to be written in place between two
  /// runs: the next Forward takes what is there then. Unsupported, reason
  /// training, where the backend keeps its parameters elsewhere.
  virtual Result<Tensor> Memory(std::string_view) {
    return Unsupported(Reason::kTraining,
                       "parameters are not in memory that can be given");
  }
};

/// The random numbers of operators that have no seed of their own.
class Draws {
 public:
  virtual ~Draws() = default;
  /// From here on each Forward draws what this seed of a run and this step
  /// give, however often it runs: a step that is taken again draws the same,
  /// another one something else. Before the first call a backend draws as it
  /// likes.
  virtual Status DrawFrom(uint64_t run_seed, int64_t step) = 0;
};

/// The backend's own optimizer.
class NativeStep {
 public:
  virtual ~NativeStep() = default;
  virtual std::vector<std::string> Optimizers() const = 0;
  /// Chooses one with its hyperparameters; unknown names are invalid.
  virtual Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) = 0;
  /// Forward, backward from `loss` (a scalar output) and update.
  virtual Status Step(Binding& binding, std::string_view loss) = 0;
};

/// Where a node of the main graph really ran.
struct PlacedNode {
  std::string node;      // its label
  std::string executor;  // a library, a device, or "adapter" for the glue
  std::string function;  // the label of the call in whose function body the
                         // node stands; empty for one of the model as written
};

class Placement {
 public:
  virtual ~Placement() = default;
  /// One per node of the main graph that ran, in order, after Load.
  virtual std::vector<PlacedNode> Placed() const = 0;
};

}  // namespace assay::inline v1

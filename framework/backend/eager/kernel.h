// SPDX-License-Identifier: Apache-2.0
//
// Kernel, LoadContext, PrepareContext, KernelContext, GradientContext: what an
// operator of an eager backend is written against.
//
//   Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override {
//     if (load.dtype(op.x) != DType::kFloat32) {
//       return Unsupported(Reason::kDType, "Relu of ", load.dtype(op.x));
//     }
//     return Kernel{.forward = [op](KernelContext& run) -> Status {
//       const Tensor& x = run.input(op.x);
//       ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
//                              run.Output(op.y, x.dtype(), x.shape()));
//       Use(x, *y);                      // computes
//       return OkStatus();
//     }};
//   }
//
// Visit runs once per node at Load; forward runs at every Forward, with values
// of the element types that Load saw. A kernel keeps no state of a run in
// itself: one network may have many bindings. A kernel that builds something
// for the shapes of its inputs, or for values such as axes, does so in prepare,
// and the framework keeps it with the binding:
//
//   Kernel kernel;
//   kernel.prepare = [op](PrepareContext& known) -> Prepared {
//     return std::make_shared<Shape>(*known.type(op.x).StaticShape());
//   };
//   kernel.forward = [op](KernelContext& run) -> Status {
//     return Use(run.prepared<Shape>(), run.input(op.x));
//   };
//
// A kernel declines in Visit or in prepare, never in forward: so Load or Bind
// declines. Forward declines only where a run brings a shape or a value that
// Bind could not see, because a body makes it or the caller wrote it since.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/graph/operator.h"

namespace assay::eager {
struct LoadScope;  // scope.h, private: a graph's types and fixed values
}  // namespace assay::eager

namespace assay::inline v1 {

struct LoadOptions;
class PrepareContext;
class KernelContext;
class GradientContext;

/// A part of the graph that a node stands in, by the names of its values: all
/// that lies between `inputs` and `output`.
struct GraphPart {
  std::vector<std::string> inputs;
  std::string output;
  int targets = 0;  // the first so many inputs are differentiated by
};

/// A kernel's preparation for a binding; null where it made nothing.
using Prepared = Result<std::shared_ptr<void>>;

using BackwardFunction = std::function<Status(GradientContext&)>;

/// Runs a part: its inputs to its output.
using CallPart =
    std::function<Result<std::vector<Value>>(std::span<const Value> inputs)>;
/// As KernelContext::Differentiate, by the first `targets` inputs.
using DifferentiateFunction = std::function<Result<std::vector<Value>>(
    const CallPart& call, std::span<const Value> inputs, int targets)>;

/// One node, ready to run. `backward` is empty where the kernel has no gradient
/// of its own.
struct Kernel {
  std::function<Status(KernelContext&)> forward;
  BackwardFunction backward;
  /// Who computes, for Placement; empty means the backend itself.
  std::string executor;
  /// The part for Differentiate. Load fails where the part has no gradient.
  std::optional<GraphPart> part = std::nullopt;
  /// Makes what depends on shapes, and on the values it asks for. Bind calls
  /// it, and a run calls it again only where these have changed since. Bind
  /// declines what it declines; any other error is left for Forward to meet,
  /// since the bound memory may be filled after Bind.
  std::function<Prepared(PrepareContext&)> prepare = nullptr;
};

/// The known facts of a node when the model is loaded.
class LoadContext {
 public:
  LoadContext(const Node& node, const eager::LoadScope& scope,
              const LoadOptions& options)
      : node_(node), scope_(scope), options_(options) {}

  const Node& node() const { return node_; }
  const LoadOptions& options() const { return options_; }

  /// The inferred or declared type; kind kNone when it is not known or the
  /// input is omitted.
  const ValueType& type(Input input) const;
  const ValueType& type(Output output) const;
  DType dtype(Input input) const { return type(input).dtype; }
  DType dtype(Output output) const { return type(output).dtype; }

  /// The value of an input that the model fixes, by an initializer of this or
  /// an enclosing graph or by a Constant node; null otherwise. Null too for a
  /// parameter that may be written: the trainable initializers in mode
  /// kTraining, and those among the gradient targets.
  const Tensor* constant(Input input) const;

  /// For EagerBackend::LoadNode.
  const eager::LoadScope& scope() const { return scope_; }

 private:
  const Node& node_;
  const eager::LoadScope& scope_;
  const LoadOptions& options_;
};

/// The facts that a binding has of a node's inputs. A kernel is prepared again
/// when something that it asked for here has changed.
class PrepareContext {
 public:
  virtual ~PrepareContext() = default;

  /// The type of an input, extents included; kind kNone when it is omitted.
  virtual const ValueType& type(Input input) = 0;

  /// A tensor whose elements matter, such as axes; null when it is omitted. In
  /// Bind the steps that compute it run first: an error where one of them
  /// fails. Each run compares the elements with those of before, so it is a
  /// short one.
  virtual Result<const Tensor*> value(Input input) = 0;

  /// Says what forward will write. Bind then prepares the readers of the output
  /// without a run of this node.
  virtual void Declare(Output output, DType dtype, const Shape& shape) = 0;
};

/// The values of one run of one node.
class KernelContext {
 public:
  virtual ~KernelContext() = default;

  /// A tensor input; the empty tensor when it is omitted.
  const Tensor& input(Input input) const {
    const Tensor* tensor = value(input).tensor();
    return tensor == nullptr ? kNoTensor : *tensor;
  }
  /// An input of any kind; an absent Value when it is omitted.
  const Value& value(Input input) const {
    const auto position = static_cast<size_t>(input.position);
    return position < inputs_.size() ? *inputs_[position] : kAbsent;
  }
  int input_count() const { return static_cast<int>(inputs_.size()); }

  /// The result of Kernel::prepare for these inputs.
  template <class T>
  T& prepared() const {
    return *static_cast<T*>(prepared_);
  }

  /// True where the run with this mark read and wrote the memory that this one
  /// does, by the same types and shapes. A kernel that has kept pointers since
  /// then has nothing else to ask, and every output counts as asked for.
  bool Repeats(uint64_t mark) {
    repeats_ = mark != 0 && mark == mark_;
    return repeats_;
  }
  /// The mark of this run; 0 where no other is known to be like it.
  uint64_t mark() const { return mark_; }

  /// The tensor to write an output into: the caller's, or one that earlier
  /// runs used, or a new one. Its content is unspecified. Fails when the
  /// caller bound memory of another type or shape. A null tensor, without
  /// error, when the node omits the output. A kernel that returns without
  /// having asked for, or set, every output of its node has failed.
  virtual Result<Tensor*> Output(assay::Output output, DType dtype,
                                 const Shape& shape) = 0;

  /// Sets an output of any kind; a tensor is copied into the caller's memory
  /// where there is one, else shared.
  virtual Status SetOutput(assay::Output output, Value value) = 0;

  /// Runs a subgraph attribute of this node with the captured outer values, and
  /// returns its outputs. Drop those of one run before the next: then the next
  /// reuses their memory.
  virtual Result<std::vector<Value>> Run(std::string_view attribute,
                                         std::span<const Value> inputs) = 0;

  /// Runs Kernel::part on these inputs, one for each of the part's, and returns
  /// the gradients of its output, of the sum of its elements where it has
  /// several, with respect to the part's targets.
  virtual Result<std::vector<Value>> Differentiate(
      std::span<const Value> inputs) = 0;

  /// Keeps a value for backward, in order of calls of this and of Workspace;
  /// inputs and outputs need no saving. Does nothing when no gradient was asked
  /// for.
  virtual void Save(Value value) = 0;

  /// Saves a tensor for the kernel to write: one that earlier runs used, or a
  /// new one, of unspecified content. It lasts until the next run. A null
  /// tensor, without error, when no gradient was asked for.
  virtual Result<Tensor*> Workspace(DType dtype, const Shape& shape) = 0;

 protected:
  static const Tensor kNoTensor;
  static const Value kAbsent;

  /// For a context that stands between a kernel and `run`.
  void SharePrepared(const KernelContext& run) { prepared_ = run.prepared_; }

  std::vector<const Value*> inputs_;
  void* prepared_ = nullptr;
  uint64_t mark_ = 0;
  bool repeats_ = false;
};

/// The values of one backward run of one node. After the node's own inputs come
/// those that its subgraphs capture, in the order of the attributes and of
/// Graph::captures: their positions go on where those of the inputs end.
class GradientContext {
 public:
  virtual ~GradientContext() = default;

  virtual const Tensor& input(Input input) const = 0;
  /// An input of any kind; an absent Value when it is omitted.
  virtual const Value& value(Input input) const = 0;
  virtual const Tensor& output(Output output) const = 0;
  virtual const Value& saved(int index) const = 0;
  /// The result of Kernel::prepare for these inputs. It outlives the run, so
  /// that a workspace which forward fills for backward can be part of it.
  template <class T>
  T& prepared() const {
    return *static_cast<T*>(prepared_);
  }

  /// The cotangent of an output; null when nothing flows into it (zeros).
  virtual const Tensor* cotangent(Output output) const = 0;

  /// True when the gradient with respect to this input is needed.
  virtual bool wanted(Input input) const = 0;

  /// Zeros of the input's type and shape, to be added into or overwritten; the
  /// same tensor when asked again. The framework sums the gradients of a value
  /// that is read more than once, and drops one that is not wanted.
  virtual Result<Tensor*> Gradient(Input input) = 0;

  /// The same, of unspecified content instead of zeros, for a kernel that
  /// writes every element. So a bound backward clears nothing.
  virtual Result<Tensor*> GradientToWrite(Input input) {
    return Gradient(input);
  }

 protected:
  void* prepared_ = nullptr;
};

}  // namespace assay::inline v1

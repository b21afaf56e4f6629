// SPDX-License-Identifier: Apache-2.0
//
// Frame: one place for every value of a Program, and a context for every step
// with its places looked up. Made at Bind, so that a run looks nothing up and,
// from the second on, allocates nothing.
//
//   Frame frame(program, nullptr, outputs);
//   frame.SetInput(0, x);
//   ASSAY_RETURN_IF_ERROR(frame.Prepare());
//   ASSAY_RETURN_IF_ERROR(frame.Run());
//
// A subgraph has a frame of its own inside the context of the node that runs
// it; a captured value is the same place in both.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/backend/eager/preparation.h"
#include "framework/backend/eager/program.h"

namespace assay::eager {

class Frame;

/// Where an output of a step goes.
struct OutputPlace {
  Value* value = nullptr;  // null: the node omits it
  std::string_view name;
  bool callers = false;  // memory that the caller gave
  int64_t written = -1;  // the number of the run that wrote it last
};

/// Stores `value`: into the caller's memory by copy, else by sharing.
Status Store(const Value& value, OutputPlace& place);

class StepContext final : public KernelContext {
 public:
  StepContext(Step& step, Frame& frame);
  StepContext(StepContext&&) = default;

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override;
  Status SetOutput(assay::Output output, Value value) override;
  Result<std::vector<Value>> Run(std::string_view attribute,
                                 std::span<const Value> inputs) override;
  Result<std::vector<Value>> Differentiate(
      std::span<const Value> inputs) override;
  void Save(Value value) override;
  Result<Tensor*> Workspace(DType dtype, const Shape& shape) override;

  /// Prepares the kernel for inputs of these types, one for each.
  Status Prepare(std::span<const ValueType> types,
                 const Preparation::ValueOf& value_of);

  const Step& step() const { return *step_; }
  /// The value that this run saved at `index`, in the order of Save; null where
  /// it saved fewer.
  const Value* saved(int index) const {
    const auto at = static_cast<size_t>(index);
    return at < saved_count_ ? &saved_[at]->value : nullptr;
  }
  void* made() const { return prepared_; }
  /// Null where the kernel does not prepare.
  const Preparation* preparation() const { return preparation_.get(); }

 private:
  friend class Frame;

  /// A value that the kernel kept for backward.
  struct Saved {
    Value value;
    bool is_workspace = false;
  };

  Status Forward();
  Status ForwardPrepared();
  Status PrepareAgain();
  OutputPlace* Find(assay::Output output);
  Saved& NextSaved();
  void DropSaved();
  Result<Tensor*> Allocate(OutputPlace& place, DType dtype, const Shape& shape);
  bool Wrote(int64_t run) const;
  bool IsSteady() const;
  /// Why the step failed: its status, or the output that it left out.
  Status Explain(const Status& status) const;

  // First those that every run reads, in few lines of a cache.
  Step* step_;
  std::unique_ptr<Preparation> preparation_;  // of step_->kernel.prepare
  Frame* frame_;
  std::vector<OutputPlace> outputs_;
  size_t output_count_;  // known without dividing by the size of an output
  std::vector<std::unique_ptr<Frame>> bodies_;  // parallel to step_->bodies
  std::unique_ptr<Frame> part_;                 // of step_->part
  std::vector<std::unique_ptr<Saved>> saved_;   // and memory of earlier runs
  size_t saved_count_ = 0;                      // in this run
};

class Frame {
 public:
  /// For a main graph `outer` is null. `outputs`, parallel to the
  /// program's outputs or empty, are where those go; a value that is present
  /// there is memory of the caller's. `program`, `outer` and `outputs` must
  /// outlive the frame.
  Frame(Program& program, Frame* outer, std::span<Value> outputs);
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// The value of program.inputs[index].
  void SetInput(size_t index, const Value& value);

  /// Prepares the kernels of a main graph, whose inputs are set, before its
  /// first run. Bind, not Forward, then declines the shapes and values that a
  /// kernel declines. A shape is that of a bound value, the one that the model
  /// infers, or the one that the kernel that computes it declares. Where none
  /// of these is known, and where a kernel asks for a computed value, the steps
  /// that lead to the shape or the value run. So does a node that has a kernel
  /// that prepares in its subgraphs. Unsupported, with the node, where a kernel
  /// declines. Any other error ends the preparation, and the run meets it
  /// again.
  Status Prepare();

  /// Runs every step. Errors name the node.
  Status Run();

  /// Runs one step, whose inputs are there, before the first run.
  Status RunStep(size_t step);

  /// Runs a subgraph: its inputs to its outputs.
  Result<std::vector<Value>> Call(std::span<const Value> inputs);

  const Value& value(ValueId id) const {
    return *places_[static_cast<size_t>(id)];
  }
  const StepContext& context(size_t step) const { return contexts_[step]; }
  StepContext& context(size_t step) { return contexts_[step]; }
  const Program& program() const { return program_; }
  /// True when the last run came to its end.
  bool complete() const { return complete_; }

 private:
  friend class StepContext;

  /// A graph output that is no step's own: an input, a constant, or one that
  /// stands in the list twice.
  struct Copy {
    const Value* from;
    OutputPlace to;
  };

  void PlaceOutputs(std::span<Value> outputs);
  void Release();
  Status CopyOutputs();

  // First those that every run reads, in few lines of a cache.
  Program& program_;
  std::vector<StepContext> contexts_;
  int64_t run_ = 0;     // counts from 1; 0 is Bind
  bool holds_ = false;  // there is something for Release to let go of
  bool copies_outputs_ = false;
  bool complete_ = false;
  std::vector<Copy> copies_;
  std::vector<Value> values_;   // by ValueId, where no other place is meant
  std::vector<Value*> places_;  // by ValueId
  std::vector<bool> callers_;   // by ValueId
  std::vector<Value*> shared_;  // set by sharing, dropped before the next run
};

}  // namespace assay::eager

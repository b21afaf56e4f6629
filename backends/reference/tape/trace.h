// SPDX-License-Identifier: Apache-2.0
//
// Trace: one run of a network on Vars, kernel by kernel. Between its kernels
// every tensor of floating-point numbers is a tensor of Vars. Each kernel of
// the main graph has a tape of its own, a step; what its subgraphs run is part
// of it.
//
//   Trace trace;
//   ASSAY_ASSIGN_OR_RETURN(const Tensor x_vars, trace.AddTarget(x, offsets));
//   const Trace::Scope running(&trace);
//   network.Forward(*binding);                 // of kernels that were Traced
//   for (const uint32_t step : trace.steps()) {
//     ASSAY_ASSIGN_OR_RETURN(const auto tape, trace.TapeOf(step));
//     Use(*tape);                              // steps.h has passes over all
//   }
//
// A Var names the step or the target that it comes from and which of its
// numbers it is. Between kernels great tensors of them are packed: of each run
// of Vars that follow each other only the first is kept. The tapes of a small
// run are kept. Those of a great one are recorded again when they are asked
// for, so that memory holds the numbers between kernels and the tape of one of
// them. For that the binding must live, and must not run again, for as long as
// the trace is used.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/reference/tape/packed_vars.h"
#include "backends/reference/tape/tape.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

struct TracedKernel;

class Trace {
 public:
  /// The numbers that kernels pass on: as they were computed, or rounded to
  /// the element type of their value, which no derivative sees.
  enum class Between : uint8_t { kUnrounded, kRounded };

  /// Sees the tape of every step, each time that it is recorded.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void Begin(Tape& tape) = 0;
    /// `nodes` are those that others may name.
    virtual void End(uint32_t step, const Tape& tape,
                     std::span<const uint32_t> nodes) = 0;
  };

  /// A step, or the numbers of a target.
  struct Source {
    size_t size = 0;                 // how many numbers others may name
    size_t tape_size = 0;            // of a step, when it was recorded last
    std::vector<uint32_t> nodes;     // where these are on the tape of TapeOf
    std::vector<double> values;      // what these are, in double
    std::vector<v1::Value> outputs;  // of a step: what its kernel gave, packed
    std::vector<bool> moving;        // those that a target has a share in
    std::vector<bool> rounded;  // of a target that was moved: those inexact
    uint32_t last_reader = 0;   // the step that reads it last
    std::shared_ptr<const Tape> tape;  // null where it is to be recorded again
    std::function<Status()> record;    // null for a target
  };

  static constexpr size_t kMostKeptBytes = size_t{1} << 29;

  explicit Trace(Ties ties = Ties::kFalse,
                 Between between = Between::kUnrounded,
                 size_t most_kept_bytes = kMostKeptBytes)
      : ties_(ties), between_(between), most_kept_bytes_(most_kept_bytes) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  class Scope {
   public:
    explicit Scope(Trace* trace);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Trace* outer_;
    Tape::Scope no_tape_;
  };
  static Trace* Current();

  /// Before the run.
  void Watch(std::shared_ptr<Observer> observer) {
    observer_ = std::move(observer);
  }
  /// Makes a target of a tensor of floating-point numbers that is given, in
  /// memory that no other given tensor shares, with `offsets` added to its
  /// numbers unless these are null. Before the run. The tensor's Vars. Targets
  /// are the first sources, in their order, from 1 on.
  Result<Tensor> AddTarget(const Tensor& tensor, const double* offsets);
  /// A value that a network gave, with Vars where they were packed.
  Result<assay::Value> Unpacked(const assay::Value& value) const;
  /// After the run: these unpacked values are read by whoever asked for it.
  void Keep(std::span<const v1::Value> values);

  /// In the order of the run.
  const std::vector<uint32_t>& steps() const { return steps_; }
  const Source& source(uint32_t source) const { return sources_[source]; }
  /// Fails as the kernel does, and did not in the run. The nodes of a step are
  /// there until this is called for another.
  Result<std::shared_ptr<const Tape>> TapeOf(uint32_t step);

  /// The nodes of all tapes together, and of the greatest; the operations of an
  /// evaluation, and those of them that numbers of 113 bits leave to pairs.
  size_t node_count() const { return node_count_; }
  size_t most_nodes() const { return most_nodes_; }
  double operation_count() const { return operation_count_; }
  double pair_count() const { return pair_count_; }
  /// True when the way that ties go has decided something: the other way may
  /// give another trace.
  bool saw_ties() const { return saw_ties_; }
  /// True when every tape is kept.
  bool is_kept() const { return is_kept_; }

  // For traced kernels.

  bool IsTarget(const Tensor& tensor) const;
  /// A small value that stands for one of Vars with names, if that is less.
  /// Numbers given for one of which nothing was computed.
  Result<assay::Value> Packed(const assay::Value& value);
  /// The same value with Vars for floating-point numbers. Resource exhausted
  /// when there is no memory for them.
  Result<assay::Value> Traced(const assay::Value& value);
  /// Rounds the Vars of a value of that element type, where they are to be.
  Status Round(DType type, Tensor& vars) const;
  /// Runs a kernel: as a step, or as part of one that is being recorded.
  Status Run(const std::shared_ptr<const TracedKernel>& kernel,
             KernelContext& run);

 private:
  /// The most nodes of one step: 17 bytes each, and 8 to 80 in a pass.
  static constexpr size_t kMostNodes = size_t{1} << 25;

  Result<Tensor> TracedTensor(const Tensor& tensor);
  Status RecordStep(const TracedKernel& kernel, KernelContext& run,
                    uint32_t step, Source* source);
  void MarkMoving(Tape& tape, Source* source) const;
  void Add(Source source);
  static void LetGo(Source* source);

  Ties ties_;
  Between between_;
  size_t most_kept_bytes_;
  std::shared_ptr<Observer> observer_;
  std::vector<Source> sources_ = std::vector<Source>(1);  // 0 is none
  std::vector<uint32_t> steps_;
  uint32_t target_count_ = 0;
  uint32_t again_ = 0;          // the step that is recorded again
  uint32_t recorded_last_ = 0;  // a step that was
  size_t node_count_ = 0;
  size_t most_nodes_ = 0;
  double operation_count_ = 0;
  double pair_count_ = 0;
  size_t kept_bytes_ = 0;
  bool is_kept_ = true;
  bool saw_ties_ = false;

  struct Packing {
    Tensor stand_in;
    PackedVars vars;
  };
  std::map<const std::byte*, Packing> packed_;  // by where stand-ins lie

  /// A given tensor, found by where its bytes lie, and held so that they stay
  /// there.
  struct Given {
    Tensor tensor;
    Tensor vars;  // undefined where no step has read it
    uint32_t source;
  };
  std::map<const std::byte*, Given> given_;
};

/// Unsupported, reason dtype, for complex numbers, whose place Vars take.
Status CheckReal(std::string_view name, const ValueType& type);

/// The kernel of the node of `load`, in a run with a current Trace. Fails when
/// the tape is full. Unsupported where the node has complex numbers.
Result<Kernel> Traced(Kernel kernel, const LoadContext& load);

}  // namespace assay::reference

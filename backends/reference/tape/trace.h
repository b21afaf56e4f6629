// SPDX-License-Identifier: Apache-2.0
//
// Trace: one run of a network on Vars. Between its kernels every tensor of
// floating-point numbers is a tensor of Vars; those given, inputs and
// initializers, become inputs of the tape when a kernel first reads them.
//
//   Trace trace;
//   const Trace::Scope running(&trace);
//   network.Forward(*binding);              // of kernels that were Traced
//   const Tensor* vars = trace.Find(x);     // what the input x became

#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/reference/tape/tape.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

class Trace {
 public:
  explicit Trace(Ties ties = Ties::kFalse) : tape_(kMostNodes, ties) {}

  class Scope {
   public:
    explicit Scope(Trace* trace);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Trace* outer_;
    Tape::Scope tape_;
  };
  static Trace* Current();

  const Tape& tape() const { return tape_; }
  Tape& tape() { return tape_; }
  /// True for the node of a number that was rounded when it was shifted.
  bool is_rounded(uint32_t node) const { return rounded_.contains(node); }

  /// Adds `offsets` to the numbers of `tensor` when they are read.
  void Shift(const Tensor& tensor, std::vector<double> offsets) {
    offsets_[tensor.data()] = std::move(offsets);
  }

  /// The same value with Vars for floating-point numbers. Resource exhausted
  /// when there is no memory for them.
  Result<assay::Value> Traced(const assay::Value& value);

  /// The Vars of a tensor of floating-point numbers; null when nothing has
  /// read it.
  const Tensor* Find(const Tensor& tensor) const;

 private:
  /// 17 bytes each, and 8 to 32 in a pass.
  static constexpr size_t kMostNodes = size_t{1} << 25;

  Result<Tensor> TracedTensor(const Tensor& tensor);

  Tape tape_;
  std::map<const std::byte*, std::vector<double>> offsets_;
  std::set<uint32_t> rounded_;
  /// A tensor that was read, held so that its memory is not used again.
  struct Read {
    Tensor tensor;
    Tensor vars;
  };
  std::map<const std::byte*, Read> read_;  // by where the bytes lie
};

/// The kernel, in a run with a current Trace. Fails when the tape is full.
Kernel Traced(Kernel kernel);

}  // namespace assay::reference

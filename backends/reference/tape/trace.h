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
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/tape/tape.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

class Trace {
 public:
  /// The numbers that kernels pass on: as they were computed, or rounded to
  /// the element type of their value, which no derivative sees.
  enum class Between : uint8_t { kUnrounded, kRounded };

  explicit Trace(Ties ties = Ties::kFalse,
                 Between between = Between::kUnrounded)
      : tape_(kMostNodes, ties), between_(between) {}

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

  /// Rounds the Vars of a value of that element type, where they are to be.
  Status Round(DType type, Tensor& vars);

  /// The Vars of a tensor of floating-point numbers; null when nothing has
  /// read it.
  const Tensor* Find(const Tensor& tensor) const;

 private:
  /// 17 bytes each, and 8 to 32 in a pass.
  static constexpr size_t kMostNodes = size_t{1} << 25;

  Result<Tensor> TracedTensor(const Tensor& tensor);

  Tape tape_;
  Between between_;
  std::map<const std::byte*, std::vector<double>> offsets_;
  std::set<uint32_t> rounded_;
  /// A tensor that was read, held so that its memory is not used again.
  struct Read {
    Tensor tensor;
    Tensor vars;
  };
  std::map<const std::byte*, Read> read_;  // by where the bytes lie
};

/// Unsupported, reason dtype, for complex numbers, whose place Vars take.
Status CheckReal(std::string_view name, const ValueType& type);

/// The kernel of the node of `load`, in a run with a current Trace. Fails when
/// the tape is full. Unsupported where the node has complex numbers.
Result<Kernel> Traced(Kernel kernel, const LoadContext& load);

}  // namespace assay::reference

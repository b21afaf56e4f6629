// SPDX-License-Identifier: Apache-2.0
//
// Tape: what kernels computed on Vars, node by node: a primitive, two operands
// and a value, 17 bytes. Operations on constants are recorded too, so that a
// pass in more bits makes them more exact.
//
//   Tape tape;
//   {
//     const Tape::Scope recording(&tape);
//     y = exp(tape.Input(0.5));
//   }
//   const std::vector<Quad> values = Replay<Quad>(tape);  // passes.h
//
// A product of matrices is one block; a maximum over many is one choice.
// Decisions that were taken on the way, and how near they were, are kept. A Var
// of another source becomes an input when something is computed from it. One
// thread records on a tape at a time.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "backends/reference/dense/block.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/product.h"
#include "backends/reference/scalar/var.h"

namespace assay::reference {

/// The nodes that a choice was taken from.
struct Choice {
  uint32_t first = 0;  // in Tape::candidates()
  uint32_t count = 0;
  uint32_t chosen = 0;  // node
  bool least = false;   // not the greatest
};

/// Two formulas of one function: `then` where a < b.
struct Selection {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t then = 0;
  uint32_t otherwise = 0;
};

/// Sources with this bit are numbers given of which no derivative is taken.
inline constexpr uint32_t kGivenSource = uint32_t{1} << 31;

/// A comparison that a kernel branched on.
struct Comparison {
  uint32_t a = 0;
  uint32_t b = 0;
  bool is_jump = false;  // a difference of values, not only of derivatives
};

/// Which way a comparison of tied numbers goes, to see what a tie means.
enum class Ties : uint8_t { kFalse, kTrue };

class Tape {
 public:
  /// At most `most_nodes` are kept: then full() is true, and the tape is of no
  /// use.
  explicit Tape(size_t most_nodes = size_t{1} << 26, Ties ties = Ties::kFalse);
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Makes a tape the current one of this thread, until the end of the scope.
  class Scope {
   public:
    explicit Scope(Tape* tape);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    Tape* outer_;
  };
  static Tape* Current();

  /// Makes place for so many nodes.
  void Reserve(size_t nodes);

  /// A number given to this tape alone.
  Var Input(double value);
  Var Push(Primitive primitive, uint32_t a, uint32_t b, double value);
  /// The node of a Var; one is made for a constant, and for a number of another
  /// source.
  uint32_t NodeOf(Var x);
  Var PushChoice(std::span<const Var> candidates, size_t chosen, bool least);
  Var PushSelection(Var a, Var b, Var then, Var otherwise);
  /// y += scale * a b, in place.
  void PushBlock(const Product& product, const VarMatrix& a, const VarMatrix& b,
                 Var* y);
  void PushBranch(Var a, Var b, bool is_jump);

  /// Takes for tied, beside equal ones, numbers of which `tied` says so, by
  /// their nodes.
  void TakeForTied(std::function<bool(uint32_t a, uint32_t b)> tied) {
    tied_ = std::move(tied);
  }
  /// True when the way that ties go has decided something.
  bool saw_ties() const { return saw_ties_; }
  bool TakesFirst() {
    saw_ties_ = true;
    return ties_ == Ties::kFalse;
  }
  /// True when a < b, or when they are tied and ties go that way.
  bool GoesBefore(Var a, Var b);

  /// Finds what the inputs for which `moves` says so have a share in. A reverse
  /// pass leaves all else out; without this it leaves out nothing.
  void MarkMoving(
      const std::function<bool(uint32_t source, uint32_t index)>& moves);
  bool Moves(size_t node) const { return moving_.empty() || moving_[node]; }

  size_t size() const { return values_.size(); }
  /// Nearly the bytes of its memory.
  size_t bytes() const;
  /// The sources that inputs come from.
  std::vector<uint32_t> Sources() const;
  bool full() const { return full_; }
  Ties ties() const { return ties_; }
  Primitive primitive(size_t node) const { return primitives_[node]; }
  /// For an input, a is its source and b the index of its number there.
  uint32_t a(size_t node) const { return a_[node]; }
  uint32_t b(size_t node) const { return b_[node]; }
  const std::vector<double>& values() const { return values_; }
  const std::vector<Choice>& choices() const { return choices_; }
  std::span<const uint32_t> candidates(const Choice& choice) const {
    return std::span(candidates_).subspan(choice.first, choice.count);
  }
  const std::vector<Selection>& selections() const { return selections_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const std::vector<Comparison>& branches() const { return branches_; }

 private:
  /// Constants noted lately, so that a loop notes each of its own once.
  struct Noted {
    uint64_t bits = 0;
    uint32_t node = 0;
  };

  uint32_t Borrowed(Var x);
  Factor FactorOf(const VarMatrix& from, int64_t rows, int64_t columns,
                  const MatrixStrides& strides);
  std::vector<double> ValuesOf(const Block& block, const Var* y,
                               const MatrixStrides& strides) const;

  size_t most_nodes_;
  Ties ties_;
  std::function<bool(uint32_t a, uint32_t b)> tied_;
  bool saw_ties_ = false;
  bool full_ = false;
  std::vector<Primitive> primitives_;
  std::vector<uint32_t> a_, b_;
  std::vector<double> values_;
  std::vector<Choice> choices_;
  std::vector<uint32_t> candidates_;
  std::vector<Selection> selections_;
  std::vector<Block> blocks_;
  std::vector<Comparison> branches_;
  std::vector<bool> moving_;  // by node; empty: all
  std::array<Noted, 64> noted_;
  /// By source, the input of each of its numbers; 0 where there is none yet.
  std::map<uint32_t, std::vector<uint32_t>> borrowed_;
  std::pair<uint32_t, std::vector<uint32_t>*> borrowed_last_ = {0, nullptr};
};

}  // namespace assay::reference

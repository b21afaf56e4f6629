// SPDX-License-Identifier: Apache-2.0
//
// Reverse: what flows backward through a chain, for the rules of its primitives
// (rules.h). A rule reads what flows into a primitive's results, appends
// primitives to the chain that runs backward, and says what flows into the
// operands:
//
//   const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
//   reverse.Give(entry.at(DNNL_ARG_SRC), [&](const memory& dx) {
//     reverse.chain().Eltwise(dnnl::algorithm::eltwise_linear, 2, 0, dy,
//                             dx);
//   });
//
// Gradients of a value that several primitives read are added.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>

#include "backends/onednn/primitive/chain.h"

namespace assay::onednn {

/// The positions of the inputs whose gradients are wanted, and of the outputs
/// into which something flows.
struct Asked {
  std::set<int> inputs, outputs;

  auto operator<=>(const Asked&) const = default;
};

class Reverse {
 public:
  /// Tape and chain must outlive it. All tensors of the node that carry
  /// gradients are float32.
  Reverse(const Tape& tape, ChainBuilder& chain, const Asked& asked);

  const Tape& tape() const { return tape_; }
  ChainBuilder& chain() { return chain_; }

  /// A memory of the forward chain, as backward reads it.
  memory Value(const memory& forward) {
    return ValueAs(forward, forward.get_desc());
  }
  /// The same under another descriptor of the same bytes.
  memory ValueAs(const memory& forward, const memory::desc& desc);

  /// True when the gradient of something wanted flows through this operand.
  bool Leads(const memory& operand) const;
  /// Says so of a result.
  void Lead(const memory& result);
  /// True when something flows into a result, as far as has been walked.
  bool Flows(const memory& written) const;

  /// The cotangent of what was written there, under its descriptor or another
  /// of the same bytes; an empty memory where it is zeros.
  memory Cotangent(const memory& written) {
    return CotangentAs(written, written.get_desc(), 0);
  }
  memory CotangentAs(const memory& written, const memory::desc& desc,
                     int64_t offset_bytes);
  /// Zeros in memory where nothing flows.
  memory CotangentOrZeros(const memory& written);

  /// Where a primitive may write the gradient of an operand, in a layout of its
  /// own choice. Settle adds it to that of the operand's other readers.
  struct Landing {
    dnnl::memory memory;
    dnnl::memory target = {};  // where `memory` goes; empty: it is there
    bool add = false;
  };
  Landing Land(const memory& operand, const memory::desc& made);
  void Settle(const Landing& landing);

  /// Both around `write`, for an operand that leads; else nothing.
  void Give(const memory& operand,
            const std::function<void(const memory&)>& write);

  /// A gradient that is there already, under the operand's descriptor or
  /// another of the same place.
  void Pass(const memory& operand, const memory& gradient) {
    PassAs(operand, operand.get_desc(), gradient);
  }
  void PassAs(const memory& operand, const memory::desc& desc,
              const memory& gradient);

 private:
  /// The bytes that a memory lies in: a tensor's or a chain's.
  using Root = std::pair<Role, uintptr_t>;
  /// What flows into the chain's own bytes.
  struct Flow {
    bool any = false;
    dnnl::memory sum;
  };
  struct Target {
    dnnl::memory memory;
    bool add = false;
  };

  Root RootOf(const Place& place) const;
  const Place* Find(const memory& forward) const;
  Target Open(const memory& operand, const memory::desc& desc);

  const Tape& tape_;
  ChainBuilder& chain_;
  const Asked& asked_;
  std::set<Root> leading_;
  std::map<Root, Flow> flows_;
};

}  // namespace assay::onednn

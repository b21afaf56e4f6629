// SPDX-License-Identifier: Apache-2.0
//
// Reverse: what flows backward through a chain, and the rules of its
// primitives, one for each kind that a tape may hold. A rule reads what flows
// into a primitive's results, appends primitives to the chain that runs
// backward, and says what flows into the operands:
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
  /// The flow into the chain's own bytes.
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

struct Rule {
  /// Appends what carries the cotangents of the results to the operands.
  Status (*append)(Reverse&, const Taped&);
  /// False for a primitive whose derivatives are zero, such as a comparison.
  bool (*passes)(const Taped&) = [](const Taped&) { return true; };
};

/// Null for a primitive that has none.
const Rule* FindRule(const Taped& entry);

/// True for the name of an argument that the primitive writes.
bool IsResult(const Taped& entry, int argument);

bool EltwisePasses(const Taped& entry);
bool BinaryPasses(const Taped& entry);

// pointwise.cc
Status ReverseEltwise(Reverse& reverse, const Taped& entry);
Status ReverseBinary(Reverse& reverse, const Taped& entry);
Status ReversePRelu(Reverse& reverse, const Taped& entry);

// movement.cc
Status ReverseReorder(Reverse& reverse, const Taped& entry);
Status ReverseConcat(Reverse& reverse, const Taped& entry);
Status ReverseSum(Reverse& reverse, const Taped& entry);
Status ReverseReduction(Reverse& reverse, const Taped& entry);

// product.cc
Status ReverseConvolution(Reverse& reverse, const Taped& entry);
Status ReverseDeconvolution(Reverse& reverse, const Taped& entry);
Status ReverseInnerProduct(Reverse& reverse, const Taped& entry);
Status ReverseMatMul(Reverse& reverse, const Taped& entry);
Status ReversePooling(Reverse& reverse, const Taped& entry);
Status ReverseResampling(Reverse& reverse, const Taped& entry);

// normalization.cc
Status ReverseBatchNormalization(Reverse& reverse, const Taped& entry);
Status ReverseLayerNormalization(Reverse& reverse, const Taped& entry);
Status ReverseLrn(Reverse& reverse, const Taped& entry);
Status ReverseSoftmax(Reverse& reverse, const Taped& entry);

// recurrent.cc
Status ReverseRnn(Reverse& reverse, const Taped& entry);
Status ReverseLstm(Reverse& reverse, const Taped& entry);
Status ReverseGru(Reverse& reverse, const Taped& entry);
Status ReverseLbrGru(Reverse& reverse, const Taped& entry);

/// The descriptor of an entry, whose type is known from its rule.
template <class Primitive>
const typename Primitive::primitive_desc& DescOf(const Taped& entry) {
  return std::any_cast<const typename Primitive::primitive_desc&>(entry.desc);
}

/// Unsupported, reason gradient.
Status NoBackward(std::string_view what);

/// Appends the sum of `from` over the axes along which `to` has one element; a
/// copy where there is none.
void SumInto(ChainBuilder& chain, const memory& from, const memory& to);

/// Appends the backward of a primitive of one operand. `desc` makes its
/// descriptor for the descriptors of the two gradients. Those of x and y that
/// it `reads` are among its arguments, and the workspace where there is one.
template <class Backward>
Status ReverseUnary(Reverse& reverse, const Taped& entry,
                    const std::vector<int>& reads, const auto& desc) {
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  reverse.Give(entry.at(DNNL_ARG_SRC), [&](const memory& dx) {
    std::vector<Argument> arguments = {
        {DNNL_ARG_DIFF_DST, dy},
        {DNNL_ARG_DIFF_SRC, dx},
        {DNNL_ARG_WORKSPACE, entry.at(DNNL_ARG_WORKSPACE)}};
    for (const int name : reads) {
      arguments.push_back({name, reverse.Value(entry.at(name))});
    }
    reverse.chain().Add<Backward>(desc(dx.get_desc(), dy.get_desc()),
                                  arguments);
  });
  return OkStatus();
}

/// Gives an operand that repeats over `full` the sum of what `write` makes
/// there.
void GiveRepeated(Reverse& reverse, const memory& operand,
                  const memory::desc& full,
                  const std::function<void(const memory&)>& write);

}  // namespace assay::onednn

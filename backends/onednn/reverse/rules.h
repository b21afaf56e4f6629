// SPDX-License-Identifier: Apache-2.0
//
// The rules by which primitives run backward, one for each kind of primitive
// that a tape may hold.
//
//   if (const Rule* rule = FindRule(entry)) rule->append(reverse, entry);

#pragma once

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {

struct Rule {
  /// Appends what carries the cotangents of the results to the operands.
  Status (*append)(Reverse&, const Taped&);
  /// False for a primitive whose derivatives are zero, such as a comparison.
  bool (*passes)(const Taped&);
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

// normalization.cc
Status ReverseBatchNormalization(Reverse& reverse, const Taped& entry);
Status ReverseLayerNormalization(Reverse& reverse, const Taped& entry);
Status ReverseLrn(Reverse& reverse, const Taped& entry);
Status ReverseSoftmax(Reverse& reverse, const Taped& entry);

// window.cc
Status ReversePooling(Reverse& reverse, const Taped& entry);
Status ReverseResampling(Reverse& reverse, const Taped& entry);

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

/// Gives an operand that repeats over `full` the sum of what `write` makes
/// there.
void GiveRepeated(Reverse& reverse, const memory& operand,
                  const memory::desc& full,
                  const std::function<void(const memory&)>& write);

/// The descriptor with this layout left to the library.
memory::desc AnyLayoutOf(const memory::desc& desc);

}  // namespace assay::onednn

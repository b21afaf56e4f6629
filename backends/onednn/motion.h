// SPDX-License-Identifier: Apache-2.0
//
// Motion: a copy of elements between two tensors of one element type, which is
// one reorder of oneDNN; and Piece, of which several make the part of an axis
// that an operator such as Slice or Pad keeps.
//
//   ASSAY_ASSIGN_OR_RETURN(const Carried x, Carry(chain, op.data));
//   AddMotion(chain, op.data, x, op.transposed, y, motion);
//
// A reorder between equal types copies bits, so that elements that oneDNN has
// no type for travel as several of one that it has: int64 as two int32.

#ifndef ASSAY_BACKENDS_ONEDNN_MOTION_H_
#define ASSAY_BACKENDS_ONEDNN_MOTION_H_

#include <span>
#include <vector>

#include "backends/onednn/chain.h"

namespace assay::onednn {

/// A tensor whose elements travel as `lanes` of view.type each.
struct Carried {
  TensorView view;
  int64_t lanes = 1;

  /// Row-major over extents with as many elements, lanes joined to the last.
  memory::desc As(memory::dims dims) const;
};

/// Unsupported, reason dtype, where elements are not of whole bytes.
Result<Carried> Carry(ChainBuilder& chain, Input input);
Result<Carried> Carry(const ChainBuilder& chain, DType dtype,
                      const Shape& shape);

/// Which element of a tensor an index names: offset + sum index * stride.
struct Walk {
  memory::dims strides;
  int64_t offset = 0;  // elements
};

/// The copy to[index] = from[index] over `dims`.
struct Motion {
  memory::dims dims;
  Walk from, to;
};

/// Appends one reorder. Both tensors carry one element type.
void AddMotion(ChainBuilder& chain, Input input, const Carried& x,
               Output output, const Carried& y, const Motion& motion);

/// `count` places of the output's axis, from `to` on, and where they come
/// from: `from`, `from + step`, ...
struct Piece {
  int64_t to = 0;
  int64_t from = 0;
  int64_t step = 1;  // never negative: a reorder walks forward
  int64_t count = 0;
};

/// The fewest pieces of these source places, one an entry of the output's
/// axis; a negative one leaves its entry alone.
std::vector<Piece> PiecesOf(std::span<const int64_t> places);

/// Appends one reorder for each combination of a piece of every axis.
/// Resource exhausted when these are more than 65,536.
Status AddPieces(ChainBuilder& chain, Input input, const Carried& x,
                 Output output, const Carried& y,
                 std::vector<std::vector<Piece>> axes);

}  // namespace assay::onednn

#endif  // ASSAY_BACKENDS_ONEDNN_MOTION_H_

// SPDX-License-Identifier: Apache-2.0
//
// Mutants of pads and bounds, most of them off by one.

#include <algorithm>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Pools = Ops<op::MaxPool, op::AveragePool, op::LpPool>;
using Windows = Ops<op::Conv, op::MaxPool, op::AveragePool, op::LpPool>;

/// The first axis with padding before it moves by one.
template <class Op>
void ShiftPads(Op& op) {
  const size_t rank = op.pads.size() / 2;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (op.pads[axis] == 0) continue;
    --op.pads[axis];
    ++op.pads[axis + rank];
    return;
  }
}

template <class Op>
void ShortenPads(Op& op) {
  const size_t rank = op.pads.size() / 2;
  for (size_t axis = rank; axis < op.pads.size(); ++axis) {
    op.pads[axis] = std::max<int64_t>(op.pads[axis] - 1, 0);
  }
}

template <class Op>
void SwapSames(Op& op) {
  if (op.auto_pad == "SAME_LOWER") {
    op.auto_pad = "SAME_UPPER";
  } else if (op.auto_pad == "SAME_UPPER") {
    op.auto_pad = "SAME_LOWER";
  }
}

// [begins..., ends...] taken for [ends..., begins...].
Result<Tensor> SwapPads(const Tensor& pads) {
  std::vector<double> swapped = Numbers(pads);
  std::rotate(swapped.begin(), swapped.begin() + std::ssize(swapped) / 2,
              swapped.end());
  return OfNumbers(pads.dtype(), pads.shape(), swapped);
}

// Ends count as inside; those that stand for "to the end" stay.
double IncludeEnd(double end) {
  return end < -1 || (end >= 0 && end < 1e6) ? end + 1 : end;
}

// The diagonal below the one meant.
Status LowerDiagonal(const op::Trilu& op, Values& inputs) {
  const auto at = static_cast<size_t>(op.k.position);
  inputs.resize(std::max(inputs.size(), at + 1));
  double k = -1;
  if (const Tensor* given = inputs[at].tensor()) k += Numbers(*given)[0];
  ASSAY_ASSIGN_OR_RETURN(inputs[at], OfNumbers(DType::kInt64, Shape(), {k}));
  return OkStatus();
}

// Each query attends to the key behind its own too.
void ReachOneMore(op::Attention& op) {
  if (op.is_causal == 0) return;
  op.is_causal = 0;
  op.right_window_size = 1;
}

void WidenWindow(op::Attention& op) {
  if (op.left_window_size >= 0) ++op.left_window_size;
}

}  // namespace

std::vector<Mutant> WindowMutants() {
  return {
      {"pool_pads_shifted",
       Rewritten(Pools(), [](auto& op) { ShiftPads(op); })},
      {"conv_pads_shifted", Rewritten(Ops<op::Conv, op::ConvTranspose>(),
                                      [](auto& op) { ShiftPads(op); })},
      {"conv_pad_end_short",
       Rewritten(Windows(), [](auto& op) { ShortenPads(op); })},
      {"auto_pad_same_swapped",
       Rewritten(Windows(), [](auto& op) { SwapSames(op); })},
      {"averagepool_pads_counted", Set(1, &op::AveragePool::count_include_pad)},
      {"pad_ends_swapped", Changed(SwapPads, &op::Pad::pads)},
      {"pad_reflect_repeats_edge", Rewritten(Ops<op::Pad>(),
                                             [](auto& op) {
                                               if (op.mode == "reflect")
                                                 op.mode = "edge";
                                             })},
      {"slice_end_included", ChangedNumbers(IncludeEnd, &op::Slice::ends)},
      {"trilu_diagonal_off_by_one", Fed(Ops<op::Trilu>(), LowerDiagonal)},
      {"attention_causal_off_by_one",
       Rewritten(Ops<op::Attention>(), ReachOneMore)},
      {"attention_window_off_by_one",
       Rewritten(Ops<op::Attention>(), WidenWindow)},
  };
}

}  // namespace assay::faulty

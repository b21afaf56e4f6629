// SPDX-License-Identifier: Apache-2.0
//
// Mutants of loops that end too early: always, for many elements, or for a
// number of them that is no multiple of a vector's width; and mutants of pads
// and bounds, most of them off by one.

#include <algorithm>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Arithmetic = Ops<op::Add, op::Sub, op::Mul, op::Div>;
using Units =
    Ops<op::Relu, op::Neg, op::Abs, op::Exp, op::Tanh, op::Sigmoid, op::Sqrt>;

constexpr int64_t kMany = 1024;

/// Results whose place in_tail(i, count) keeps from being computed are zero.
template <class... Op, class F>
OperatorDefect Unwritten(Ops<Op...> ops, F in_tail) {
  return Spoiled(ops, [=](Values& outputs) {
    return ChangeTensor(outputs[0], [&](const Tensor& y) {
      const int64_t count = y.num_elements();
      return WithNumbers(
          y, [&](int64_t i, double x) { return in_tail(i, count) ? 0.0 : x; });
    });
  });
}

bool IsLast(int64_t i, int64_t count) { return count > 1 && i == count - 1; }
bool IsBeyondMany(int64_t i, int64_t) { return i >= kMany; }
template <int64_t kWidth>
bool IsInTail(int64_t i, int64_t count) {
  return count > kWidth && i >= count / kWidth * kWidth;
}

/// The input's last place along an axis (counted from the end) is read as 0.
Status ZeroLast(Value& value, int from_end) {
  return ChangeTensor(value, [&](const Tensor& x) -> Result<Tensor> {
    const int axis = x.shape().rank() - from_end;
    if (axis < 0 || x.shape()[axis] < 2) return x;
    int64_t inner = 1;
    for (int k = axis + 1; k < x.shape().rank(); ++k) inner *= x.shape()[k];
    const int64_t extent = x.shape()[axis];
    return WithNumbers(x, [&](int64_t i, double number) {
      return i / inner % extent == extent - 1 ? 0.0 : number;
    });
  });
}

/// The sum without all elements from place kMany on.
Status ZeroBeyondMany(Value& value) {
  return ChangeNumbers(
      value, [](int64_t i, double number) { return i < kMany ? number : 0; });
}

// The last row of a product is left at zero.
Status ZeroLastRow(Values& outputs) { return ZeroLast(outputs[0], 2); }

// The last column, where there is an odd number of them.
Status ZeroOddColumn(Values& outputs) {
  const Shape& shape = outputs[0].tensor()->shape();
  const bool odd = shape.rank() > 0 && shape[shape.rank() - 1] % 2 == 1;
  return odd ? ZeroLast(outputs[0], 1) : OkStatus();
}

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

std::vector<Mutant> SizeMutants() {
  return {
      {"elementwise_last_unwritten", Unwritten(Arithmetic(), IsLast)},
      {"unary_last_unwritten", Unwritten(Units(), IsLast)},
      {"reduce_drops_last",
       Fed(Ops<op::ReduceSum, op::ReduceMean, op::ReduceL1, op::ReduceL2>(),
           [](Values& inputs) { return ZeroLast(inputs[0], 1); })},
      {"matmul_drops_last_product",
       Fed(Ops<op::MatMul, op::MatMulInteger>(),
           [](Values& inputs) { return ZeroLast(inputs[0], 1); })},
      {"matmul_last_row_unwritten",
       Spoiled(Ops<op::MatMul, op::Gemm>(), ZeroLastRow)},
      {"conv_drops_last_channel",
       Fed(Ops<op::Conv>(),
           [](Values& inputs) {
             const Tensor* w = inputs[1].tensor();
             return ZeroLast(inputs[1],
                             w == nullptr ? 1 : w->shape().rank() - 1);
           })},
      {"concat_last_unwritten", Unwritten(Ops<op::Concat>(), IsLast)},
      {"transpose_last_unwritten", Unwritten(Ops<op::Transpose>(), IsLast)},
      {"elementwise_wrong_beyond_1024", Unwritten(Arithmetic(), IsBeyondMany)},
      {"unary_wrong_beyond_1024", Unwritten(Units(), IsBeyondMany)},
      {"reduce_wrong_beyond_1024",
       Fed(Ops<op::ReduceSum, op::ReduceMean>(),
           [](Values& inputs) { return ZeroBeyondMany(inputs[0]); })},
      {"transpose_wrong_beyond_1024",
       Unwritten(Ops<op::Transpose>(), IsBeyondMany)},
      {"matmul_wrong_beyond_1024",
       Unwritten(Ops<op::MatMul, op::Gemm>(), IsBeyondMany)},
      {"elementwise_tail_of_4_unwritten", Unwritten(Arithmetic(), IsInTail<4>)},
      {"unary_tail_of_8_unwritten", Unwritten(Units(), IsInTail<8>)},
      {"cast_tail_of_16_unwritten",
       Unwritten(Ops<op::Cast, op::CastLike>(), IsInTail<16>)},
      {"matmul_odd_column_unwritten",
       Spoiled(Ops<op::MatMul, op::Gemm>(), ZeroOddColumn)},
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

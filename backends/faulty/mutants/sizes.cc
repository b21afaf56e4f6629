// SPDX-License-Identifier: Apache-2.0
//
// Mutants of loops that end too early: always, for many elements, or for a
// number of them that is no multiple of a vector's width.

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
  return ChangeTensor(value, [](const Tensor& x) {
    return WithNumbers(
        x, [](int64_t i, double number) { return i < kMany ? number : 0; });
  });
}

// The last row of a product is left at zero.
Status ZeroLastRow(Values& outputs) { return ZeroLast(outputs[0], 2); }

// The last column, where there is an odd number of them.
Status ZeroOddColumn(Values& outputs) {
  const Shape& shape = outputs[0].tensor()->shape();
  const bool odd = shape.rank() > 0 && shape[shape.rank() - 1] % 2 == 1;
  return odd ? ZeroLast(outputs[0], 1) : OkStatus();
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
  };
}

}  // namespace assay::faulty

// SPDX-License-Identifier: Apache-2.0
//
// Mutants that read weights in another order than they are stored in.

#include <numeric>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

// The last two axes change places, where they are as long.
Result<Tensor> TransposedIfSquare(const Tensor& weights) {
  const int rank = weights.shape().rank();
  if (rank < 2 || weights.shape()[rank - 1] != weights.shape()[rank - 2]) {
    return weights;
  }
  std::vector<int> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return Transposed(weights, perm);
}

// Convolution as mathematics has it, where ONNX means correlation.
Result<Tensor> Flipped(const Tensor& weights) {
  const int64_t taps =
      weights.shape().rank() > 2
          ? weights.num_elements() / (weights.shape()[0] * weights.shape()[1])
          : 1;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    places.push_back(i / taps * taps + (taps - 1 - i % taps));
  }
  return Picked(weights, weights.shape(), places);
}

/// Gates `a` and `b` of `count`, stored one after another along axis 1, change
/// places in W, R and B, which has them twice.
Status SwapGates(Values& inputs, int64_t count, int64_t a, int64_t b) {
  for (const size_t at : {1, 2, 3}) {
    if (at >= inputs.size()) continue;
    const int64_t gates = at == 3 ? 2 * count : count;
    const auto swap = [&](const Tensor& weights) {
      const int64_t length =
          weights.num_elements() / weights.shape()[0] / gates;
      std::vector<int64_t> places;
      for (int64_t i = 0; i < weights.num_elements(); ++i) {
        const int64_t gate = i / length % count;
        const int64_t other = gate == a ? b : gate == b ? a : gate;
        places.push_back(i + (other - gate) * length);
      }
      return Picked(weights, weights.shape(), places);
    };
    ASSAY_RETURN_IF_ERROR(ChangeTensor(inputs[at], swap));
  }
  return OkStatus();
}

// Feature by feature instead of target by target.
void TransposeCoefficients(op::ml::LinearRegressor& op) {
  const auto targets = static_cast<size_t>(op.targets);
  const std::vector<float> given = op.coefficients;
  if (targets == 0 || given.size() % targets != 0) return;
  const size_t features = given.size() / targets;
  for (size_t i = 0; i < given.size(); ++i) {
    op.coefficients[i] = given[i % features * targets + i / features];
  }
}

}  // namespace

std::vector<Mutant> WeightMutants() {
  return {
      {"gemm_b_transposed", Changed(TransposedIfSquare, &op::Gemm::b)},
      {"matmul_second_transposed",
       Changed(TransposedIfSquare, &op::MatMul::b, &op::MatMulInteger::b)},
      {"conv_kernel_flipped", Changed(Flipped, &op::Conv::w)},
      {"rnn_recurrence_transposed", Changed(TransposedIfSquare, &op::RNN::r)},
      {"lstm_gates_swapped",
       Fed(Ops<op::LSTM>(),
           [](Values& inputs) { return SwapGates(inputs, 4, 1, 2); })},
      {"gru_gates_swapped",
       Fed(Ops<op::GRU>(),
           [](Values& inputs) { return SwapGates(inputs, 3, 0, 1); })},
      {"linear_coefficients_transposed",
       Rewritten(Ops<op::ml::LinearRegressor>(), TransposeCoefficients)},
  };
}

}  // namespace assay::faulty

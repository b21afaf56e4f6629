// SPDX-License-Identifier: Apache-2.0
//
// Rules of memory, of chance and of which gradients are asked for.

#include <algorithm>
#include <cstring>

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

int64_t WidthOf(const Tensor& tensor) { return BitsOf(tensor.dtype()) / 8; }

// Sums of a second run come in another order.
Result<Tensor> LastBit(const RanBack& ran) {
  if (ran.run % 2 != 0) return ran.right;
  ASSAY_ASSIGN_OR_RETURN(Tensor copy, ran.right.Clone());
  const int64_t middle = copy.num_elements() / 2;
  copy.mutable_data()[middle * WidthOf(copy)] ^= std::byte{1};
  return copy;
}

void InvertLast(Tensor tensor) {
  for (int64_t i = 1; i <= WidthOf(tensor); ++i) {
    std::byte& byte = tensor.mutable_data()[tensor.byte_size() - i];
    byte = ~byte;
  }
}

Result<Tensor> CotangentWritten(const RanBack& ran) {
  for (const Value& dy : ran.cotangents) {
    if (dy.present()) InvertLast(*dy.tensor());
  }
  return ran.right;
}

Result<Tensor> InputWritten(const RanBack& ran) {
  InvertLast(*ran.inputs[ran.target].tensor());
  return ran.right;
}

Result<Tensor> AloneZeros(const RanBack& ran) {
  if (!ran.alone) return ran.right;
  return Tensor::Allocate(ran.right.dtype(), ran.right.shape());
}

Result<Tensor> AloneDoubled(const RanBack& ran) {
  if (!ran.alone) return ran.right;
  return WithNumbers(ran.right, [](int64_t, double x) { return 2 * x; });
}

// What the runs before have given is added.
Result<Tensor> RunsAdded(const RanBack& ran) {
  const auto runs = static_cast<double>(ran.run);
  return WithNumbers(ran.right, [=](int64_t, double x) { return runs * x; });
}

// A bound run adds to what the one before it wrote.
Result<Tensor> BoundRunsAdded(const RanBack& ran) {
  const auto runs = static_cast<double>(std::max<int64_t>(ran.bound_run, 1));
  return WithNumbers(ran.right, [=](int64_t, double x) { return runs * x; });
}

}  // namespace

std::vector<GradientRule> MemoryGradientRules() {
  return {
      {"last_bit", "", LastBit},
      {"cotangent_written", "", CotangentWritten},
      {"input_written", "", InputWritten},
      {"alone_zeros", "", AloneZeros},
      {"alone_doubled", "", AloneDoubled},
      {"runs_added", "", RunsAdded},
      {"bound_runs_added", "", BoundRunsAdded},
  };
}

}  // namespace assay::faulty

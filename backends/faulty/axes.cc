// SPDX-License-Identifier: Apache-2.0
//
// Mutants that take one axis, or one order, for another.

#include <algorithm>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

void InvertPerm(op::Transpose& op) {
  std::vector<int64_t> inverse(op.perm.size());
  for (size_t i = 0; i < op.perm.size(); ++i) {
    const auto axis = static_cast<size_t>(op.perm[i]);
    if (axis < inverse.size()) inverse[axis] = static_cast<int64_t>(i);
  }
  op.perm = inverse;
}

template <class Op>
void SwapModes(Op& op) {
  op.mode = op.mode == "DCR" ? "CRD" : "DCR";
}

Status ReverseInputs(const op::Concat&, Values& inputs) {
  std::ranges::reverse(inputs);
  return OkStatus();
}

Status ReverseOutputs(const op::Split&, const Values&, Values& outputs) {
  std::ranges::reverse(outputs);
  return OkStatus();
}

// Along the last axis where another is meant; elements stay as many.
template <class Op>
Status TakeFirstAxis(const Op& op, Values& inputs) {
  return ChangeTensor(
      inputs[static_cast<size_t>(op.axis.position)], [](const Tensor& axis) {
        return WithNumbers(axis, [](int64_t, double) { return 0.0; });
      });
}

}  // namespace

std::vector<Mutant> AxisMutants() {
  return {
      {"transpose_perm_inverted", Rewritten(Ops<op::Transpose>(), InvertPerm)},
      {"transpose_perm_ignored",
       Rewritten(Ops<op::Transpose>(), [](auto& op) { op.perm.clear(); })},
      {"softmax_axis_first",
       Rewritten(Ops<op::Softmax, op::LogSoftmax, op::Hardmax>(),
                 [](auto& op) { op.axis = 0; })},
      {"lpnorm_axis_last",
       Rewritten(Ops<op::LpNormalization>(), [](auto& op) { op.axis = -1; })},
      {"argmax_axis_first",
       Rewritten(Ops<op::ArgMax, op::ArgMin>(), [](auto& op) { op.axis = 0; })},
      {"cumsum_axis_first", Fed(Ops<op::CumSum, op::CumProd>(),
                                [](const auto& op, Values& inputs) {
                                  return TakeFirstAxis(op, inputs);
                                })},
      {"depthtospace_mode_swapped",
       Rewritten(Ops<op::DepthToSpace, op::SpaceToDepth>(),
                 [](auto& op) { SwapModes(op); })},
      {"onehot_axis_ignored",
       Rewritten(Ops<op::OneHot>(), [](auto& op) { op.axis = -1; })},
      {"reversesequence_axes_swapped",
       Rewritten(Ops<op::ReverseSequence>(),
                 [](auto& op) { std::swap(op.batch_axis, op.time_axis); })},
      {"gathernd_batch_dims_ignored",
       Rewritten(Ops<op::GatherND>(), [](auto& op) { op.batch_dims = 0; })},
      {"concat_order_reversed", Fed(Ops<op::Concat>(), ReverseInputs)},
      {"split_order_reversed", Spoiled(Ops<op::Split>(), ReverseOutputs)},
  };
}

}  // namespace assay::faulty

// SPDX-License-Identifier: Apache-2.0
//
// Mutants that choose another of equals than ONNX says.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"
#include "backends/reference/loop/nest.h"

namespace assay::faulty {
namespace {

using reference::AxisView;

Result<Tensor> ReversedAlong(const Tensor& tensor, int64_t axis) {
  ASSAY_ASSIGN_OR_RETURN(const AxisView view,
                         AxisView::Of(tensor.shape(), axis));
  std::vector<int64_t> places(static_cast<size_t>(tensor.num_elements()));
  view.ForEachLine([&](int64_t start) {
    for (int64_t i = 0; i < view.count; ++i) {
      places[static_cast<size_t>(start + i * view.inner)] =
          start + (view.count - 1 - i) * view.inner;
    }
  });
  return Picked(tensor, tensor.shape(), places);
}

// The first of a reversed axis is the last.
OperatorDefect LastOfTopK() {
  return Replaced(
      Ops<op::TopK>(),
      [](const op::TopK& op, LoadContext& load,
         const Right& right) -> Result<Kernel> {
        ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
        return Around(
            std::move(kernel), load.node(),
            [op](Values& inputs) {
              return ChangeTensor(inputs[0], [&](const Tensor& x) {
                return ReversedAlong(x, op.axis);
              });
            },
            [op](const Values& inputs, Values& outputs) -> Status {
              if (outputs.size() < 2) return OkStatus();
              const Shape& shape = inputs[0].tensor()->shape();
              ASSAY_ASSIGN_OR_RETURN(const AxisView view,
                                     AxisView::Of(shape, op.axis));
              const auto last = static_cast<double>(view.count - 1);
              return ChangeTensor(outputs[1], [&](const Tensor& indices) {
                return WithNumbers(indices,
                                   [&](int64_t, double i) { return last - i; });
              });
            });
      });
}

// 1 at all of the greatest.
Status AllOfGreatest(const op::Hardmax& op, const Values& inputs,
                     Values& outputs) {
  const Tensor& x = *inputs[0].tensor();
  ASSAY_ASSIGN_OR_RETURN(const AxisView view, AxisView::Of(x.shape(), op.axis));
  const std::vector<double> numbers = Numbers(x);
  std::vector<double> wrong(numbers.size());
  view.ForEachLine([&](int64_t start) {
    double greatest = numbers[static_cast<size_t>(start)];
    for (int64_t i = 0; i < view.count; ++i) {
      greatest = std::max(greatest,
                          numbers[static_cast<size_t>(start + i * view.inner)]);
    }
    for (int64_t i = 0; i < view.count; ++i) {
      const auto at = static_cast<size_t>(start + i * view.inner);
      wrong[at] = numbers[at] == greatest ? 1 : 0;
    }
  });
  return ChangeFloats(outputs[0], [&](int64_t i, double) {
    return wrong[static_cast<size_t>(i)];
  });
}

// Below the split, or equal to it: BRANCH_LT as if it were BRANCH_LEQ.
template <class Op>
void TakeEqual(Op& op) {
  for (std::string& mode : op.nodes_modes) {
    if (mode == "BRANCH_LT") mode = "BRANCH_LEQ";
  }
}

void TakeEqualByNumber(op::ml::TreeEnsemble& op) {
  constexpr double kLeq = 0;
  constexpr double kLt = 1;
  const auto modes = WithNumbers(op.nodes_modes, [](int64_t, double mode) {
    return mode == kLt ? kLeq : mode;
  });
  if (modes.ok()) op.nodes_modes = *modes;
}

}  // namespace

std::vector<Mutant> TieMutants() {
  return {
      {"argmax_last_of_ties",
       Set(1, &op::ArgMax::select_last_index, &op::ArgMin::select_last_index)},
      {"topk_last_of_ties", LastOfTopK()},
      {"hardmax_all_ties", Spoiled(Ops<op::Hardmax>(), AllOfGreatest)},
      {"resize_ties_up", Rewritten(Ops<op::Resize>(),
                                   [](auto& op) {
                                     if (op.nearest_mode ==
                                         "round_prefer_floor") {
                                       op.nearest_mode = "round_prefer_ceil";
                                     }
                                   })},
      {"tree_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsemble>(), TakeEqualByNumber)},
      {"treeregressor_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsembleRegressor>(),
                 [](auto& op) { TakeEqual(op); })},
      {"treeclassifier_less_takes_equal",
       Rewritten(Ops<op::ml::TreeEnsembleClassifier>(),
                 [](auto& op) { TakeEqual(op); })},
      {"binarizer_takes_equal",
       Rewritten(Ops<op::ml::Binarizer>(),
                 [](auto& op) {
                   op.threshold = std::nextafter(
                       op.threshold, -std::numeric_limits<float>::infinity());
                 })},
  };
}

}  // namespace assay::faulty

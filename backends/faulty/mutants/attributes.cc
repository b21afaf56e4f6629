// SPDX-License-Identifier: Apache-2.0
//
// Mutants that take an attribute for another value than the model gives. Those
// that take it for its default are made by rule: ../rule.h.

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/faulty/mutants.h"
#include "backends/faulty/numbers.h"

namespace assay::faulty {
namespace {

using Predictors =
    Ops<op::ml::TreeEnsemble, op::ml::TreeEnsembleRegressor,
        op::ml::TreeEnsembleClassifier, op::ml::LinearRegressor,
        op::ml::LinearClassifier, op::ml::SVMRegressor, op::ml::SVMClassifier>;

// Transforms have a number in TreeEnsemble and a name elsewhere.
constexpr int64_t kSoftmaxNumber = 1;
constexpr int64_t kSoftmaxZeroNumber = 3;

template <class Op>
constexpr bool kTransformHasName =
    std::is_same_v<decltype(Op::post_transform), std::string>;

template <class Op>
void CountZeroScores(Op& op) {
  if constexpr (kTransformHasName<Op>) {
    if (op.post_transform == "SOFTMAX_ZERO") op.post_transform = "SOFTMAX";
  } else {
    if (op.post_transform == kSoftmaxZeroNumber) {
      op.post_transform = kSoftmaxNumber;
    }
  }
}

// A label that was to be left out counts as the nearest class.
OperatorDefect IgnoredLabelsCount() {
  return Replaced(
      Ops<op::NegativeLogLikelihoodLoss, op::SoftmaxCrossEntropyLoss>(),
      [](auto op, LoadContext& load, const Right& right) -> Result<Kernel> {
        op.ignore_index.reset();
        ASSAY_ASSIGN_OR_RETURN(Kernel kernel, right(op, load));
        const auto feed = [](Values& inputs) {
          const auto greatest =
              static_cast<double>(inputs[0].tensor()->shape()[1] - 1);
          return ChangeTensor(inputs[1], [=](const Tensor& labels) {
            return WithNumbers(labels, [=](int64_t, double label) {
              return std::clamp(label, 0.0, greatest);
            });
          });
        };
        return Around(std::move(kernel), load.node(), feed, {});
      });
}

}  // namespace

std::vector<Mutant> AttributeMutants() {
  return {
      {"rnn_direction_ignored", Rewritten(Ops<op::RNN, op::GRU, op::LSTM>(),
                                          [](auto& op) {
                                            if (op.direction == "reverse")
                                              op.direction = "forward";
                                          })},
      {"bitshift_direction_ignored", Set("LEFT", &op::BitShift::direction)},
      {"dft_onesided_ignored", Set(0, &op::DFT::onesided, &op::STFT::onesided)},
      {"tfidf_mode_ignored", Set("TF", &op::TfIdfVectorizer::mode)},
      {"tfidf_skips_ignored", Set(0, &op::TfIdfVectorizer::max_skip_count)},
      {"softmax_zero_taken_for_softmax",
       Rewritten(Predictors(), [](auto& op) { CountZeroScores(op); })},
      {"momentum_nesterov_ignored",
       Set("standard", &op::training::Momentum::mode)},
      {"momentum_norm_coefficient_ignored",
       Set(0, &op::training::Momentum::norm_coefficient)},
      {"loss_ignore_index_ignored", IgnoredLabelsCount()},
  };
}

}  // namespace assay::faulty

// SPDX-License-Identifier: Apache-2.0
//
// Mutants that take an attribute for another value than the model gives, and
// those that take one which is not given for something else than its default,
// or for the default of another version of the operator. Those that take one
// that is given for its default are made by rule: ../mutants.h.

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
          return ChangeNumbers(inputs[1], [=](int64_t, double label) {
            return std::clamp(label, 0.0, greatest);
          });
        };
        return Around(std::move(kernel), load.node(), feed, {});
      });
}

/// The value of one attribute, which is named for each of the operators, where
/// the node does not give it.
template <class V, class T, class... Op>
OperatorDefect Defaulted(std::string_view attribute, V value,
                         T Op::*... members) {
  const auto names = std::tuple(members...);
  return Replaced(Ops<Op...>(),
                  [=]<class Any>(Any op, LoadContext& load,
                                 const Right& right) -> Result<Kernel> {
                    if (load.node().Find(attribute) == nullptr) {
                      op.*std::get<T Any::*>(names) = value;
                    }
                    return right(op, load);
                  });
}

// Softmax and its kin as if every model imported the newest opset: before 13
// they took the input for a matrix, and the axis was 1.
Status IgnoreOpsetOfSoftmax(std::shared_ptr<const Model>& model, LoadOptions&) {
  Graph graph = model->graph();
  for (Node& node : graph.nodes) {
    if (!node.domain.empty()) continue;
    if (node.op_type != "Softmax" && node.op_type != "LogSoftmax" &&
        node.op_type != "Hardmax") {
      continue;
    }
    node.opset = NewestOpset("");
  }
  model = WithGraph(*model, std::move(graph));
  return OkStatus();
}

// Numbers of type float64 are looked for where float32 are written.
Status LoseDoubles(std::shared_ptr<const Model>& model, LoadOptions&) {
  Graph graph = model->graph();
  for (Initializer& initializer : graph.initializers) {
    const Tensor* tensor = initializer.value.tensor();
    if (tensor == nullptr || tensor->dtype() != DType::kFloat64) continue;
    ASSAY_ASSIGN_OR_RETURN(
        initializer.value,
        Tensor::Allocate(tensor->dtype(), Shape(tensor->shape())));
  }
  model = WithGraph(*model, std::move(graph));
  return OkStatus();
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
      {"leakyrelu_default_alpha",
       Defaulted("alpha", 0.1F, &op::LeakyRelu::alpha)},
      {"selu_default_gamma", Defaulted("gamma", 1, &op::Selu::gamma)},
      {"hardsigmoid_default_alpha",
       Defaulted("alpha", 1.0F / 6, &op::HardSigmoid::alpha)},
      {"softmax_default_axis",
       Defaulted("axis", 0, &op::Softmax::axis, &op::LogSoftmax::axis,
                 &op::Hardmax::axis)},
      {"argmax_default_axis",
       Defaulted("axis", -1, &op::ArgMax::axis, &op::ArgMin::axis)},
      {"gather_default_axis",
       Defaulted("axis", -1, &op::Gather::axis, &op::GatherElements::axis)},
      {"split_default_axis", Defaulted("axis", -1, &op::Split::axis)},
      {"batchnorm_default_epsilon",
       Defaulted("epsilon", 1e-3F, &op::BatchNormalization::epsilon)},
      {"lrn_default_bias", Defaulted("bias", 2, &op::LRN::bias)},
      {"resize_default_coordinates",
       Defaulted("coordinate_transformation_mode", "asymmetric",
                 &op::Resize::coordinate_transformation_mode)},
      {"roialign_default_coordinates",
       Defaulted("coordinate_transformation_mode", "output_half_pixel",
                 &op::RoiAlign::coordinate_transformation_mode)},
      {"window_default_symmetric",
       Defaulted("periodic", 0, &op::HannWindow::periodic,
                 &op::HammingWindow::periodic, &op::BlackmanWindow::periodic)},
      {"adam_default_beta",
       Defaulted("beta", 0.99F, &op::training::Adam::beta)},
      {"optimizer_default_epsilon",
       Defaulted("epsilon", 1e-8F, &op::training::Adam::epsilon,
                 &op::training::Adagrad::epsilon)},
      {.name = "softmax_opset_ignored", .load = IgnoreOpsetOfSoftmax},
      {.name = "double_initializers_lost", .load = LoseDoubles},
  };
}

}  // namespace assay::faulty

// SPDX-License-Identifier: Apache-2.0
//
// Mutants that take an attribute which is not given for something else than
// its default, or the default of another version of the operator.

#include <algorithm>
#include <utility>

#include "backends/faulty/mutants.h"
#include "backends/faulty/rule.h"

namespace assay::faulty {
namespace {

/// change(op) where the node does not give the attribute.
template <class... Op, class Change>
OperatorDefect WithoutAttribute(Ops<Op...> ops, std::string_view attribute,
                                Change change) {
  return Replaced(
      ops,
      [=](auto op, LoadContext& load, const Right& right) -> Result<Kernel> {
        if (load.node().Find(attribute) == nullptr) change(op);
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

std::vector<Mutant> DefaultMutants() {
  const auto last_axis = [](auto& op) { op.axis = -1; };
  return {
      {"leakyrelu_default_alpha",
       WithoutAttribute(Ops<op::LeakyRelu>(), "alpha",
                        [](auto& op) { op.alpha = 0.1F; })},
      {"selu_default_gamma", WithoutAttribute(Ops<op::Selu>(), "gamma",
                                              [](auto& op) { op.gamma = 1; })},
      {"hardsigmoid_default_alpha",
       WithoutAttribute(Ops<op::HardSigmoid>(), "alpha",
                        [](auto& op) { op.alpha = 1.0F / 6; })},
      {"softmax_default_axis",
       WithoutAttribute(Ops<op::Softmax, op::LogSoftmax, op::Hardmax>(), "axis",
                        [](auto& op) { op.axis = 0; })},
      {"argmax_default_axis",
       WithoutAttribute(Ops<op::ArgMax, op::ArgMin>(), "axis", last_axis)},
      {"gather_default_axis",
       WithoutAttribute(Ops<op::Gather, op::GatherElements>(), "axis",
                        last_axis)},
      {"split_default_axis",
       WithoutAttribute(Ops<op::Split>(), "axis", last_axis)},
      {"batchnorm_default_epsilon",
       WithoutAttribute(Ops<op::BatchNormalization>(), "epsilon",
                        [](auto& op) { op.epsilon = 1e-3F; })},
      {"lrn_default_bias",
       WithoutAttribute(Ops<op::LRN>(), "bias", [](auto& op) { op.bias = 2; })},
      {"resize_default_coordinates",
       WithoutAttribute(
           Ops<op::Resize>(), "coordinate_transformation_mode",
           [](auto& op) { op.coordinate_transformation_mode = "asymmetric"; })},
      {"roialign_default_coordinates",
       WithoutAttribute(Ops<op::RoiAlign>(), "coordinate_transformation_mode",
                        [](auto& op) {
                          op.coordinate_transformation_mode =
                              "output_half_pixel";
                        })},
      {"window_default_symmetric",
       WithoutAttribute(
           Ops<op::HannWindow, op::HammingWindow, op::BlackmanWindow>(),
           "periodic", [](auto& op) { op.periodic = 0; })},
      {"adam_default_beta",
       WithoutAttribute(Ops<op::training::Adam>(), "beta",
                        [](auto& op) { op.beta = 0.99F; })},
      {"optimizer_default_epsilon",
       WithoutAttribute(Ops<op::training::Adam, op::training::Adagrad>(),
                        "epsilon", [](auto& op) { op.epsilon = 1e-8F; })},
      {.name = "softmax_opset_ignored", .load = IgnoreOpsetOfSoftmax},
      {.name = "double_initializers_lost", .load = LoseDoubles},
  };
}

}  // namespace assay::faulty

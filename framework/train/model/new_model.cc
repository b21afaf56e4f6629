// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/new_model.h"

#include <algorithm>
#include <string>
#include <utility>

namespace assay::train {
namespace {

bool IsRead(const Graph& graph, ValueId id) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::find(node.inputs, id) != node.inputs.end();
  });
}

}  // namespace

Result<NewModel> NewModelOf(const Model& model) {
  // There statistics are inputs, and no node reads the ratio of a Dropout.
  ASSAY_ASSIGN_OR_RETURN(const edit::TrainingForm form,
                         edit::AsTrainingForm(model));
  const Graph& graph = form.model->graph();
  NewModel made;
  std::vector<std::string> names;
  for (const Initializer& initializer : graph.initializers) {
    const Tensor* const tensor = initializer.value.tensor();
    const bool is_float =
        tensor != nullptr && (tensor->dtype() == DType::kFloat32 ||
                              tensor->dtype() == DType::kFloat64);
    if (!is_float || !IsRead(graph, initializer.id)) continue;
    names.push_back(graph[initializer.id].name);
    ASSAY_ASSIGN_OR_RETURN(Tensor value, tensor->Clone());
    made.parameters.push_back({names.back(), std::move(value)});
  }
  if (names.empty()) {
    return InvalidArgument(
        "found no weights to train, wanted initializers of float32 or float64 "
        "that nodes read");
  }
  ASSAY_ASSIGN_OR_RETURN(made.model, edit::AsInputs(model, names));
  return made;
}

std::string SoftmaxAtEnd(const Model& model) {
  const Graph& graph = model.graph();
  if (graph.outputs.empty()) return "";
  const auto last = std::ranges::find_if(graph.nodes, [&](const Node& node) {
    return std::ranges::count(node.outputs, graph.outputs[0]) > 0;
  });
  const bool is_softmax =
      last != graph.nodes.end() && last->op_type == "Softmax";
  return is_softmax ? graph[graph.outputs[0]].name : "";
}

Result<Trainee> TraineeOf(const NewModel& made, const edit::LossEdit& loss,
                          uint64_t seed) {
  ASSAY_ASSIGN_OR_RETURN(const edit::TrainingForm form,
                         edit::AsTrainingForm(*made.model));
  Trainee trainee;
  trainee.parameters = made.parameters;
  trainee.loss = loss.result;
  trainee.seed = seed;
  ASSAY_ASSIGN_OR_RETURN(trainee.model, edit::WithLoss(*form.model, loss));
  for (const edit::FedBack& pair : form.statistics) {
    if (!pair.first.defined()) {
      return InvalidArgument("found the statistic '", pair.input,
                             "' without a first value, wanted an initializer");
    }
    ASSAY_ASSIGN_OR_RETURN(Tensor value, pair.first.Clone());
    trainee.statistics.push_back({pair.input, pair.output, std::move(value)});
  }
  for (const edit::DropoutMask& mask : form.masks) {
    trainee.masks.push_back({mask.input, mask.ratio});
  }
  const bool is_one = form.statistics.empty() && form.masks.empty();
  if (is_one) return trainee;
  ASSAY_ASSIGN_OR_RETURN(trainee.inference,
                         edit::WithLoss(*form.inference, loss));
  return trainee;
}

}  // namespace assay::train

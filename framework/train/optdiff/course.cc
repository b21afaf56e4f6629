// SPDX-License-Identifier: Apache-2.0

#include "framework/train/optdiff/course.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "framework/core/text.h"
#include "framework/graph/edit/training.h"
#include "framework/graph/model_text.h"

namespace assay::optdiff {
namespace {

constexpr size_t kBatches = 4;

struct Form {
  std::string_view name;
  std::string_view about;
  /// T stands for the element type. The first input is x, the others are the
  /// parameters.
  std::string_view text;
  edit::Loss loss;
  int64_t classes;  // or columns
};

constexpr std::array kForms = {
    Form{"quadratic", "a linear network with the mean squared error",
         "g (T[8,4] x, T[4,2] w, T[2] b) => (T[8,2] y) "
         "{ h = MatMul(x, w) y = Add(h, b) }",
         edit::Loss::kMeanSquaredError, 2},
    Form{"logistic", "a linear network with softmax cross entropy",
         "g (T[16,6] x, T[6,4] w, T[4] b) => (T[16,4] y) "
         "{ h = MatMul(x, w) y = Add(h, b) }",
         edit::Loss::kSoftmaxCrossEntropy, 4},
    Form{"mlp", "two layers with tanh, and cross entropy of one-hot rows",
         "g (T[16,8] x, T[8,12] w1, T[12] b1, T[12,5] w2, T[5] b2) => "
         "(T[16,5] y) { h = MatMul(x, w1) a = Add(h, b1) t = Tanh(a) "
         "o = MatMul(t, w2) y = Add(o, b2) }",
         edit::Loss::kSoftmaxCrossEntropyOfOneHot, 5},
    Form{"cnn", "a convolution, maxima and a layer, with cross entropy",
         "g (T[4,1,8,8] x, T[4,1,3,3] k, T[4] c, T[64,3] w, T[3] b) => "
         "(T[4,3] y) { v = Conv<pads = [1, 1, 1, 1]>(x, k, c) r = Relu(v) "
         "m = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r) "
         "f = Flatten(m) y = Gemm(f, w, b) }",
         edit::Loss::kSoftmaxCrossEntropy, 3},
};

/// Replaces T, where it is a word of its own, by the element type.
std::string InType(std::string_view text, DType type) {
  const std::string_view name = type == DType::kFloat32 ? "float" : "double";
  std::string typed;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_type =
        text[i] == 'T' && i + 1 < text.size() && text[i + 1] == '[';
    typed += is_type ? name : text.substr(i, 1);
  }
  return typed;
}

/// Multiples of 2^-12 within `reach` of zero, exact in each type.
Result<Tensor> Numbers(DType type, const Shape& shape, double reach,
                       draw::Draw* draw) {
  std::vector<double> numbers(static_cast<size_t>(*shape.NumElements()));
  for (double& number : numbers) {
    number = std::round((2 * draw->Uniform() - 1) * reach * 0x1p12) * 0x1p-12;
  }
  return draw::TensorOf(type, shape, numbers);
}

/// The targets of samples: classes, or rows.
Result<Tensor> Targets(const Form& form, DType type, int64_t samples,
                       draw::Draw* draw) {
  const Shape rows = {samples, form.classes};
  if (form.loss == edit::Loss::kMeanSquaredError) {
    return Numbers(type, rows, 1, draw);
  }
  std::vector<int64_t> classes(static_cast<size_t>(samples));
  for (int64_t& c : classes) c = draw->Index(form.classes);
  if (form.loss == edit::Loss::kSoftmaxCrossEntropy) {
    return Tensor::Of<int64_t>({samples}, classes);
  }
  std::vector<double> ones(static_cast<size_t>(*rows.NumElements()), 0);
  for (size_t i = 0; i < classes.size(); ++i) {
    ones[i * static_cast<size_t>(form.classes) +
         static_cast<size_t>(classes[i])] = 1;
  }
  return draw::TensorOf(type, rows, ones);
}

/// Glorot's bound of weights: sqrt(6 / (fan in + fan out)); 1/4 for a vector.
double ReachOf(const Shape& shape) {
  const std::vector<int64_t>& dims = shape.dims();
  if (dims.size() < 2) return 0.25;
  const bool is_filter = dims.size() > 2;
  const auto all = static_cast<double>(*shape.NumElements());
  const auto out = static_cast<double>(dims[is_filter ? 0 : dims.size() - 1]);
  return std::sqrt(6 / (all / out + out));
}

}  // namespace

std::string_view AboutNetwork(std::string_view name) {
  const auto* const form = std::ranges::find(kForms, name, &Form::name);
  return form == kForms.end() ? "" : form->about;
}

Result<TrainedNetwork> MakeNetwork(std::string_view name, DType type,
                                   draw::Draw draw, bool is_sum) {
  const auto* const form = std::ranges::find(kForms, name, &Form::name);
  if (form == kForms.end()) {
    return InvalidArgument("found the network '", name, "', wanted ",
                           Joined(kForms, ", ", &Form::name));
  }
  if (type != DType::kFloat32 && type != DType::kFloat64) {
    return InvalidArgument("found ", type, ", wanted float32 or float64");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto plain,
                         graph::ParseModelText(InType(form->text, type)));
  const Graph& graph = plain->graph();
  TrainedNetwork made;
  ASSAY_ASSIGN_OR_RETURN(
      made.model, edit::WithLoss(*plain, {.loss = form->loss, .sum = is_sum}));
  for (size_t i = 1; i < graph.inputs.size(); ++i) {
    const ValueInfo& info = graph[graph.inputs[i]];
    const Shape shape = *info.type.StaticShape();
    ASSAY_ASSIGN_OR_RETURN(Tensor value,
                           Numbers(type, shape, ReachOf(shape), &draw));
    made.parameters.push_back({info.name, std::move(value)});
  }
  const Shape shape = *graph[graph.inputs[0]].type.StaticShape();
  for (size_t i = 0; i < kBatches; ++i) {
    ASSAY_ASSIGN_OR_RETURN(Tensor x, Numbers(type, shape, 1, &draw));
    ASSAY_ASSIGN_OR_RETURN(Tensor targets,
                           Targets(*form, type, shape.dims()[0], &draw));
    made.batches.push_back({std::move(x), std::move(targets)});
  }
  return made;
}

Result<std::vector<train::Parameter>> Widened(
    std::span<const train::Parameter> narrow) {
  std::vector<train::Parameter> wide;
  for (const train::Parameter& each : narrow) {
    ASSAY_ASSIGN_OR_RETURN(Tensor value,
                           draw::TensorOf(DType::kFloat64, each.value.shape(),
                                          draw::NumbersOf(each.value)));
    wide.push_back({each.name, std::move(value)});
  }
  return wide;
}

Result<Course> MakeCourse(std::string_view network, DType type,
                          const draw::Draw& draw, int64_t steps, bool is_sum) {
  ASSAY_ASSIGN_OR_RETURN(TrainedNetwork narrow,
                         MakeNetwork(network, type, draw, is_sum));
  ASSAY_ASSIGN_OR_RETURN(TrainedNetwork wide,
                         MakeNetwork(network, DType::kFloat64, draw, is_sum));
  Course course;
  course.name = network;
  course.narrow.model = narrow.model;
  course.narrow.parameters = narrow.parameters;
  course.wide.model = wide.model;
  course.wide.parameters = wide.parameters;
  course.steps = steps;
  course.batch = [narrow = std::move(narrow.batches),
                  wide = std::move(wide.batches)](int64_t step) {
    const size_t i = static_cast<size_t>(step - 1) % narrow.size();
    return StepBatch{narrow[i], wide[i]};
  };
  return course;
}

Result<std::unique_ptr<train::NetworkObjective>> Load(
    const train::Trainee& trainee, Backend& backend) {
  train::Trainee own = trainee;
  own.inference = nullptr;
  for (train::Parameter& parameter : own.parameters) {
    ASSAY_ASSIGN_OR_RETURN(parameter.value, parameter.value.Clone());
  }
  for (train::Statistic& statistic : own.statistics) {
    ASSAY_ASSIGN_OR_RETURN(statistic.value, statistic.value.Clone());
  }
  return train::NetworkObjective::Load(backend, std::move(own));
}

}  // namespace assay::optdiff

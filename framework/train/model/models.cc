// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/models.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "framework/graph/model_text.h"
#include "framework/train/data/numbers.h"

namespace assay::train {
namespace {

/// The nodes of a model in ONNX's text form, and its parameters.
class Sketch {
 public:
  explicit Sketch(const ModelOptions& options) : options_(options) {}

  /// One layer of weights [to, from, window...] with a bias. `op` is the text of
  /// the operator that takes x, weights and bias.
  void Layer(std::string_view op, const Shape& weights) {
    const std::string name = StrCat("layer", ++n_layers_);
    Add(name + "_w", weights, /*is_bias=*/false);
    Add(name + "_b", {weights.dims()[0]}, /*is_bias=*/true);
    Then(op, StrCat(", ", name, "_w, ", name, "_b"));
  }

  /// One operator of the value in hand.
  void Then(std::string_view op, std::string_view others = "") {
    const std::string next = StrCat("h", ++n_values_);
    nodes_ += StrCat(" ", next, " = ", op, "(", value_, others, ")");
    value_ = next;
  }

  Result<NewModel> Finish() {
    const std::string_view type =
        options_.type == DType::kFloat32 ? "float" : "double";
    std::string inputs = StrCat(type, "[N,1,28,28] x");
    for (const Parameter& parameter : parameters_) {
      inputs +=
          StrCat(", ", type, "[", Joined(parameter.value.shape().dims(), ","),
                 "] ", parameter.name);
    }
    NewModel made;
    ASSAY_RETURN_IF_ERROR(fault_);
    ASSAY_ASSIGN_OR_RETURN(
        made.model, graph::ParseModelText(
                        StrCat("model (", inputs, ") => (", type, "[N,10] y) {",
                               nodes_, " y = Identity(", value_, ") }")));
    made.parameters = std::move(parameters_);
    return made;
  }

 private:
  void Add(const std::string& name, const Shape& shape, bool is_bias) {
    auto made = Tensor::Allocate(options_.type, shape);
    if (!made.ok()) {
      fault_ = made.status();
      return;
    }
    if (!is_bias) Draw(&*made);
    parameters_.push_back({name, *std::move(made)});
  }

  /// The parameters are numbered, so that each has numbers of its own.
  void Draw(Tensor* weights) {
    const std::span<const int64_t> dims = weights->shape().dims();
    const int64_t window =
        weights->num_elements() / std::max<int64_t>(1, dims[0] * dims[1]);
    const double reach =
        std::sqrt(6.0 / static_cast<double>((dims[0] + dims[1]) * window));
    Numbers numbers(KeyOf(options_.seed, std::ssize(parameters_)));
    for (int64_t i = 0; i < weights->num_elements(); ++i) {
      const double drawn = reach * (2 * numbers.Share() - 1);
      const auto place = static_cast<size_t>(i);
      if (options_.type == DType::kFloat32) {
        weights->mutable_elements<float>()[place] = static_cast<float>(drawn);
      } else {
        weights->mutable_elements<double>()[place] = drawn;
      }
    }
  }

  ModelOptions options_;
  Status fault_;
  std::vector<Parameter> parameters_;
  std::string nodes_, value_ = "x";
  int n_layers_ = 0, n_values_ = 0;
};

constexpr std::string_view kDense = "Gemm<transB = 1>";
constexpr std::string_view kHalve =
    "MaxPool<kernel_shape = [2, 2], strides = [2, 2]>";

void Mlp(Sketch* to) {
  to->Then("Flatten");
  to->Layer(kDense, {128, 784});
  to->Then("Relu");
  to->Layer(kDense, {10, 128});
}

void LeNet5(Sketch* to) {
  to->Layer("Conv<pads = [2, 2, 2, 2]>", {6, 1, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv", {16, 6, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Then("Flatten");
  to->Layer(kDense, {120, 400});
  to->Then("Relu");
  to->Layer(kDense, {84, 120});
  to->Then("Relu");
  to->Layer(kDense, {10, 84});
}

void SmallCnn(Sketch* to) {
  to->Layer("Conv<pads = [1, 1, 1, 1]>", {8, 1, 3, 3});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv<strides = [2, 2], pads = [1, 1, 1, 1]>", {16, 8, 3, 3});
  to->Then("Relu");
  to->Then("Flatten");
  to->Layer(kDense, {10, 784});
}

struct Named {
  std::string_view name;
  void (*draw)(Sketch*);
};
constexpr Named kModels[] = {
    {"mlp", Mlp}, {"lenet5", LeNet5}, {"small_cnn", SmallCnn}};

}  // namespace

std::vector<std::string_view> ModelNames() {
  std::vector<std::string_view> names;
  for (const Named& model : kModels) names.push_back(model.name);
  return names;
}

Result<NewModel> MakeModel(std::string_view name, const ModelOptions& options) {
  const auto* const found = std::ranges::find(kModels, name, &Named::name);
  if (found == std::end(kModels)) {
    return InvalidArgument("found the model '", name, "', wanted ",
                           Joined(ModelNames()));
  }
  if (options.type != DType::kFloat32 && options.type != DType::kFloat64) {
    return InvalidArgument("found a model of ", ToString(options.type),
                           ", wanted float32 or float64");
  }
  Sketch sketch(options);
  found->draw(&sketch);
  return sketch.Finish();
}

}  // namespace assay::train

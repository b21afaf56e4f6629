// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/models.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "framework/core/dtype.h"
#include "framework/core/text.h"
#include "framework/train/model/residual.h"
#include "framework/train/model/sequence.h"
#include "framework/train/model/sketch.h"

namespace assay::train {
namespace {

constexpr std::string_view kDense = "Gemm<transB = 1>";
constexpr std::string_view kHalve =
    "MaxPool<kernel_shape = [2, 2], strides = [2, 2]>";

void Mlp(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  to->Then("Flatten");
  to->Layer(kDense, {128, channels * rows * columns});
  to->Then("Relu");
  to->Layer(kDense, {to->options().classes, 128});
}

void LeNet5(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  const auto left = [](int64_t extent) { return (extent / 2 - 4) / 2; };
  to->Layer("Conv<pads = [2, 2, 2, 2]>", {6, channels, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv", {16, 6, 5, 5});
  to->Then("Relu");
  to->Then(kHalve);
  to->Then("Flatten");
  to->Layer(kDense, {120, 16 * left(rows) * left(columns)});
  to->Then("Relu");
  to->Layer(kDense, {84, 120});
  to->Then("Relu");
  to->Layer(kDense, {to->options().classes, 84});
}

void SmallCnn(Sketch* to) {
  const auto [channels, rows, columns] = to->options().image;
  const auto left = [](int64_t extent) { return (extent / 2 + 1) / 2; };
  to->Layer("Conv<pads = [1, 1, 1, 1]>", {8, channels, 3, 3});
  to->Then("Relu");
  to->Then(kHalve);
  to->Layer("Conv<strides = [2, 2], pads = [1, 1, 1, 1]>", {16, 8, 3, 3});
  to->Then("Relu");
  to->Then("Flatten");
  to->Layer(kDense, {to->options().classes, 16 * left(rows) * left(columns)});
}

struct Named {
  std::string_view name;
  void (*draw)(Sketch*);
  int64_t least;  // rows and columns
};
constexpr Named kModels[] = {{"mlp", Mlp, 1},
                             {"lenet5", LeNet5, 12},
                             {"small_cnn", SmallCnn, 2},
                             {"resnet8", [](Sketch* to) { ResNet(1, to); }, 1},
                             {"resnet20", [](Sketch* to) { ResNet(3, to); }, 1},
                             {"lstm", Lstm, 1},
                             {"transformer", Transformer, 1}};

Status Check(const Named& model, const ModelOptions& options) {
  if (options.type != DType::kFloat32 && options.type != DType::kFloat64) {
    return InvalidArgument("found a model of ", ToString(options.type),
                           ", wanted float32 or float64");
  }
  const auto [channels, rows, columns] = options.image;
  if (channels < 1 || rows < model.least || columns < model.least ||
      options.classes < 1) {
    return InvalidArgument("found images of ", Joined(options.image, " x "),
                           " and ", options.classes, " classes, wanted for ",
                           model.name, " a channel, ", model.least, " x ",
                           model.least, " and a class at least");
  }
  return OkStatus();
}

}  // namespace

std::vector<std::string_view> ModelNames() {
  std::vector<std::string_view> names;
  for (const Named& model : kModels) names.push_back(model.name);
  return names;
}

Result<ModelOptions> OptionsFor(const Dataset& dataset, uint64_t seed) {
  const std::vector<int64_t>& dims = dataset.inputs().shape().dims();
  if (dims.size() != 4) {
    return InvalidArgument("found samples in ", dataset.inputs().Signature(),
                           ", wanted them of channels, rows and columns");
  }
  return ModelOptions{.seed = seed,
                      .image = {dims[1], dims[2], dims[3]},
                      .classes = dataset.classes()};
}

Result<NewModel> MakeModel(std::string_view name, const ModelOptions& options) {
  const auto* const found = std::ranges::find(kModels, name, &Named::name);
  if (found == std::end(kModels)) {
    return InvalidArgument("found the model '", name, "', wanted ",
                           Joined(ModelNames()));
  }
  ASSAY_RETURN_IF_ERROR(Check(*found, options));
  Sketch sketch(options);
  found->draw(&sketch);
  return sketch.Finish();
}

}  // namespace assay::train

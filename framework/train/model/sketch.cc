// SPDX-License-Identifier: Apache-2.0

#include "framework/train/model/sketch.h"

#include <algorithm>
#include <cmath>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/graph/model_text.h"

namespace assay::train {

First Glorot(const Shape& weights) {
  const std::span<const int64_t> dims = weights.dims();
  int64_t window = 1;
  for (const int64_t extent : dims.subspan(2)) window *= extent;
  return {.reach = std::sqrt(
              6.0 / static_cast<double>((dims[0] + dims[1]) * window))};
}

std::string_view Sketch::Type() const {
  return options_.type == DType::kFloat32 ? "float" : "double";
}

void Sketch::Layer(std::string_view op, const Shape& weights) {
  const std::string name = StrCat("layer", ++n_layers_);
  Parameter(name + "_w", weights, Glorot(weights));
  Parameter(name + "_b", {weights.dims()[0]}, {});
  Then(op, StrCat(", ", name, "_w, ", name, "_b"));
}

void Sketch::Then(std::string_view op, std::string_view others) {
  value_ = Node(op, StrCat(value_, others));
}

std::string Sketch::Node(std::string_view op, std::string_view inputs,
                         std::string_view more) {
  const std::string result = StrCat("h", ++n_values_);
  nodes_ += StrCat(" ", result, more, " = ", op, "(", inputs, ")");
  return result;
}

std::string Sketch::Parameter(const std::string& name, const Shape& shape,
                              const First& first) {
  auto made = Tensor::Allocate(options_.type, shape);
  if (!made.ok()) {
    fault_ = made.status();
    return name;
  }
  Draw(first, &*made);
  parameters_.push_back({name, *std::move(made)});
  return name;
}

void Sketch::Set(int64_t from, int64_t count, double value) {
  if (!fault_.ok()) return;
  VisitType<float, double>(options_.type, [&]<class T>(T) {
    const auto part = parameters_.back().value.mutable_elements<T>().subspan(
        static_cast<size_t>(from), static_cast<size_t>(count));
    std::ranges::fill(part, static_cast<T>(value));
  });
}

/// The parameters are numbered, so that each has numbers of its own.
void Sketch::Draw(const First& first, Tensor* weights) const {
  core::Numbers numbers(core::KeyOf(options_.seed, std::ssize(parameters_)));
  VisitType<float, double>(options_.type, [&]<class T>(T) {
    for (T& weight : weights->mutable_elements<T>()) {
      const double drawn =
          first.reach == 0 ? 0 : first.reach * (2 * numbers.Share() - 1);
      weight = static_cast<T>(first.value + drawn);
    }
  });
}

std::string Sketch::Statistic(const std::string& name, int64_t count,
                              double value) {
  const std::vector<std::string> numbers(static_cast<size_t>(count),
                                         StrCat(value));
  initializers_.push_back(StrCat(Type(), "[", count, "] ", name, " = {",
                                 assay::Joined(numbers), "}"));
  return name;
}

std::string Sketch::Scalar(const std::string& name, double value) {
  nodes_ +=
      StrCat(" ", name, " = Constant<value = ", Type(), " {", value, "}>()");
  return name;
}

std::string Sketch::Integers(const std::string& name,
                             std::span<const int64_t> integers) {
  initializers_.push_back(StrCat("int64[", integers.size(), "] ", name, " = {",
                                 assay::Joined(integers), "}"));
  return name;
}

Result<NewModel> Sketch::Finish() {
  ASSAY_RETURN_IF_ERROR(fault_);
  std::string inputs =
      StrCat(Type(), "[N,", assay::Joined(options_.image, ","), "] x");
  for (const train::Parameter& parameter : parameters_) {
    inputs += StrCat(", ", Type(), "[",
                     assay::Joined(parameter.value.shape().dims(), ","), "] ",
                     parameter.name);
  }
  const std::string fixed =
      initializers_.empty() ? ""
                            : StrCat("<", assay::Joined(initializers_), "> ");
  NewModel made;
  ASSAY_ASSIGN_OR_RETURN(
      made.model,
      graph::ParseModelText(StrCat("model (", inputs, ") => (", Type(), "[N,",
                                   options_.classes, "] y) ", fixed, "{",
                                   nodes_, " y = Identity(", value_, ") }")));
  made.parameters = std::move(parameters_);
  return made;
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0
//
// Sketch: a model of images as it is drawn, operator after operator, in ONNX's
// text form, with its parameters.
//
//   Sketch sketch(options);
//   sketch.Then("Flatten");
//   sketch.Layer("Gemm<transB = 1>", {10, 784});
//   ASSAY_ASSIGN_OR_RETURN(NewModel made, sketch.Finish());
//
// An error of a parameter is kept and given at the end.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/shape.h"
#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/model/new_model.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {

/// The first numbers of a parameter: `value`, and uniform within `reach` of it.
struct First {
  double reach = 0;
  double value = 0;
};

/// Within sqrt(6 / (fan in + fan out)) of zero (X. Glorot, Y. Bengio,
/// "Understanding the difficulty of training deep feedforward neural networks",
/// 2010, equation 16), of weights [to, from, window...].
First Glorot(const Shape& weights);

class Sketch {
 public:
  explicit Sketch(const ModelOptions& options) : options_(options) {}

  const ModelOptions& options() const { return options_; }
  /// The value in hand, which is the image at first.
  const std::string& value() const { return value_; }
  void Take(std::string value) { value_ = std::move(value); }

  /// One layer of weights [to, from, window...] with a bias. `op` is the text
  /// of the operator that takes x, weights and bias.
  void Layer(std::string_view op, const Shape& weights);

  /// One operator of the value in hand, whose result is then in hand. `others`
  /// are further inputs, each with a comma in front.
  void Then(std::string_view op, std::string_view others = "");

  /// One operator of these inputs; the name of its first result. `more` are
  /// names of further ones, each with a comma in front.
  std::string Node(std::string_view op, std::string_view inputs,
                   std::string_view more = "");

  /// A parameter with numbers of its own, by its place; its name.
  std::string Parameter(const std::string& name, const Shape& shape,
                        const First& first);

  /// Other first numbers of a part of the last parameter.
  void Set(int64_t from, int64_t count, double value);

  /// A running statistic of as many equal numbers; its name.
  std::string Statistic(const std::string& name, int64_t count, double value);
  /// A number that is never trained, a node and no initializer; its name.
  std::string Scalar(const std::string& name, double value);
  std::string Integers(const std::string& name,
                       std::span<const int64_t> integers);

  /// The value in hand is the scores.
  Result<NewModel> Finish();

 private:
  std::string_view Type() const;
  void Draw(const First& first, Tensor* weights) const;

  ModelOptions options_;
  Status fault_;
  std::vector<train::Parameter> parameters_;
  std::string nodes_, value_ = "x";
  std::vector<std::string> initializers_;
  int n_layers_ = 0, n_values_ = 0;
};

}  // namespace assay::train

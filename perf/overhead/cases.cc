// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/cases.h"

#include <utility>

#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/graph/model_text.h"

namespace assay::overhead {
namespace {

/// Known to all libraries that are asked.
constexpr int kOpset = 21;

Case Elementwise(std::string op, int64_t count, bool is_binary) {
  std::vector<Shape> inputs = {{count}};
  if (is_binary) inputs.push_back({count});
  std::string node = StrCat(op, is_binary ? "(a, b)" : "(a)");
  return {std::move(op), StrCat(count), inputs, {count}, std::move(node)};
}

Case Product(int64_t n) {
  return {"MatMul", StrCat(n), {{n, n}, {n, n}}, {n, n}, "MatMul(a, b)"};
}

/// 3 x 3, padded so that extents stay.
Case Convolution(int64_t channels, int64_t extent) {
  const Shape image = {1, channels, extent, extent};
  return {"Conv",
          StrCat(channels, "x", extent, "x", extent),
          {image, {channels, channels, 3, 3}},
          image,
          "Conv <pads = [1, 1, 1, 1]> (a, b)"};
}

Case Rows(int64_t rows, int64_t columns) {
  const Shape shape = {rows, columns};
  return {"Softmax", StrCat(rows, "x", columns), {shape}, shape, "Softmax(a)"};
}

Case Normalization(int64_t channels, int64_t extent) {
  const Shape image = {1, channels, extent, extent};
  const Shape each = {channels};
  return {"BatchNormalization",
          StrCat(channels, "x", extent, "x", extent),
          {image, each, each, each, each},
          image,
          "BatchNormalization(a, b, c, d, e)"};
}

std::string TypeOf(const Shape& shape) {
  return StrCat("float", shape.ToString());
}

std::string GraphOf(const Case& of) {
  std::string inputs;
  char name = 'a';
  for (const Shape& shape : of.inputs) {
    inputs += StrCat(inputs.empty() ? "" : ", ", TypeOf(shape), " ",
                     std::string(1, name++));
  }
  return StrCat("g (", inputs, ") => (", TypeOf(of.output),
                " y) { y = ", of.node, " }");
}

}  // namespace

std::vector<Case> Cases() {
  return {Elementwise("Relu", 4, false),
          Elementwise("Relu", 4096, false),
          Elementwise("Relu", 262'144, false),
          Elementwise("Add", 4, true),
          Elementwise("Add", 4096, true),
          Elementwise("Add", 262'144, true),
          Product(4),
          Product(64),
          Product(128),
          Product(384),
          Convolution(1, 5),
          Convolution(16, 14),
          Convolution(64, 28),
          Rows(1, 8),
          Rows(64, 128),
          Rows(512, 1000),
          Normalization(3, 4),
          Normalization(32, 28),
          Normalization(128, 56)};
}

Result<std::shared_ptr<Bound>> Bind(
    Backend& backend, const Case& of,
    const std::map<std::string, std::string>& settings) {
  const auto bound = std::make_shared<Bound>();
  std::vector<Value> inputs;
  core::Numbers numbers(1);
  for (const Shape& shape : of.inputs) {
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                           Tensor::Allocate(DType::kFloat32, shape));
    for (float& x : tensor.mutable_elements<float>()) {
      x = static_cast<float>(0.5 + numbers.Share());
    }
    bound->inputs.push_back(tensor);
    inputs.emplace_back(tensor);
  }
  ASSAY_ASSIGN_OR_RETURN(bound->output,
                         Tensor::Allocate(DType::kFloat32, of.output));
  ASSAY_ASSIGN_OR_RETURN(bound->model,
                         graph::ParseModelText(GraphOf(of), kOpset));
  LoadOptions options;
  options.settings = settings;
  ASSAY_ASSIGN_OR_RETURN(bound->network, backend.Load(bound->model, options));
  const Value output(bound->output);
  ASSAY_ASSIGN_OR_RETURN(bound->binding,
                         bound->network->Bind(inputs, {&output, 1}));
  return bound;
}

Calls BoundCalls(std::shared_ptr<Bound> bound) {
  Network& network = *bound->network;
  Binding& binding = *bound->binding;
  return Repeated([&network, &binding, kept = std::move(bound)]() -> Status {
    ASSAY_RETURN_IF_ERROR(network.Forward(binding));
    return network.Synchronize();
  });
}

}  // namespace assay::overhead

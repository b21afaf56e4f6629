// SPDX-License-Identifier: Apache-2.0
//
// Training mode and gradients, each honoured or declined. A backend that
// declines at Load has kept the promise: `unsupported` is the answer.

#include <algorithm>
#include <array>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

namespace assay::contract {
namespace {

constexpr char kMatMul[] =
    "g (float[2,2] a, float[2,2] b) => (float[2,2] c) { c = MatMul(a, b) }";

// x and r are read twice.
constexpr char kFan[] =
    "g (float[2] x) => (float[2] y) { r = Relu(x) s = Add(r, x) y = Add(s, r) "
    "}";

/// A network with a binding, for Backward.
struct Ready {
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;

  Status Forward() { return RunBound(*network, *binding); }

  Result<std::vector<Value>> Backward(const std::vector<Value>& cotangents,
                                      const std::vector<std::string>& targets) {
    return network->differentiable()->Backward(*binding, cotangents, targets);
  }

  Result<std::unique_ptr<GradientBinding>> BindBackward(
      const std::vector<Value>& cotangents,
      const std::vector<std::string>& targets,
      const std::vector<Value>& gradients = {}) {
    return network->differentiable()->BindBackward(*binding, cotangents,
                                                   targets, gradients);
  }

  /// The gradients of one bound run.
  Result<std::vector<Value>> RunBackward(GradientBinding& bound) {
    ASSAY_RETURN_IF_ERROR(network->differentiable()->RunBackward(bound));
    ASSAY_RETURN_IF_ERROR(network->Synchronize());
    const auto gradients = bound.gradients();
    return std::vector<Value>(gradients.begin(), gradients.end());
  }
};

Result<Ready> LoadAndBind(Backend& backend, std::string_view text,
                          const std::vector<std::string>& targets,
                          const std::vector<Value>& inputs) {
  LoadOptions options;
  options.gradient_targets = targets;
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.network, Load(backend, text, options));
  if (ready.network->differentiable() == nullptr) {
    return Broken("Load took gradient targets and offers no Differentiable");
  }
  ASSAY_ASSIGN_OR_RETURN(ready.binding, ready.network->Bind(inputs, {}));
  return ready;
}

Result<Ready> Forward(Backend& backend, std::string_view text,
                      const std::vector<std::string>& targets,
                      const std::vector<Value>& inputs) {
  ASSAY_ASSIGN_OR_RETURN(Ready ready,
                         LoadAndBind(backend, text, targets, inputs));
  ASSAY_RETURN_IF_ERROR(ready.Forward());
  return ready;
}

/// Writes into memory that is bound.
void Refill(Tensor tensor, const std::vector<float>& elements) {
  std::ranges::copy(elements, tensor.mutable_elements<float>().begin());
}

Status ExpectGradients(const Result<std::vector<Value>>& found,
                       const std::vector<std::vector<float>>& want) {
  if (!found.ok()) return found.status().WithContext("Backward");
  if (found->size() != want.size()) {
    return Broken("found ", found->size(), " gradients, wanted ", want.size());
  }
  for (size_t i = 0; i < want.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats((*found)[i], want[i], StrCat("gradient ", i)));
  }
  return OkStatus();
}

}  // namespace

Status GradientRelu(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  return ExpectGradients(relu.Backward({Floats({3, 5})}, {"x"}), {{0, 5}});
}

// dA = dC B^T, dB = A^T dC: Giles, Collected Matrix Derivative Results, 2.2.2.
Status GradientMatMul(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready product,
                         Forward(backend, kMatMul, {"a", "b"},
                                 {Floats(Shape{2, 2}, {1, 2, 3, 4}),
                                  Floats(Shape{2, 2}, {5, 6, 7, 8})}));
  return ExpectGradients(
      product.Backward({Floats(Shape{2, 2}, {1, 0, 2, -1})}, {"a", "b"}),
      {{5, 7, 4, 6}, {7, -3, 10, -4}});
}

Status GradientSubset(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready product,
                         Forward(backend, kMatMul, {"a", "b"},
                                 {Floats(Shape{2, 2}, {1, 2, 3, 4}),
                                  Floats(Shape{2, 2}, {5, 6, 7, 8})}));
  const std::vector<Value> dc = {Floats(Shape{2, 2}, {1, 0, 2, -1})};
  ASSAY_RETURN_IF_ERROR(
      ExpectGradients(product.Backward(dc, {"b"}), {{7, -3, 10, -4}}));
  return ExpectGradients(product.Backward(dc, {"b", "a"}),
                         {{7, -3, 10, -4}, {5, 7, 4, 6}});
}

Status GradientParameter(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready sum,
                         Forward(backend,
                                 "g (float[2] x) => (float[2] y) "
                                 "<float[2] w = {1, 2}> { y = Add(x, w) }",
                                 {"w"}, {Floats({-1, 2})}));
  return ExpectGradients(sum.Backward({Floats({3, 5})}, {"w"}), {{3, 5}});
}

Status GradientAbsentCotangent(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready both,
                         Forward(backend,
                                 "g (float[2] x) => (float[2] y, float[2] z) "
                                 "{ y = Relu(x) z = Add(x, x) }",
                                 {"x"}, {Floats({-1, 2})}));
  ASSAY_RETURN_IF_ERROR(ExpectGradients(
      both.Backward({Floats({3, 5}), Value()}, {"x"}), {{0, 5}}));
  return ExpectGradients(both.Backward({Value(), Floats({3, 5})}, {"x"}),
                         {{6, 10}});
}

Status GradientCotangentShape(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  ASSAY_ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DType::kFloat64, {2}));
  const std::vector<std::vector<Value>> wrong = {
      {Floats({1, 2, 3})}, {Value(wide)}, {}, {Floats({1, 2}), Value()}};
  for (size_t i = 0; i < wrong.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(ExpectCode(relu.Backward(wrong[i], {"x"}).status(),
                                     StatusCode::kInvalidArgument,
                                     StrCat("wrong cotangents ", i)));
  }
  return ExpectGradients(relu.Backward({Floats({3, 5})}, {"x"}), {{0, 5}});
}

Status GradientFresh(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  const auto first = relu.Backward({Floats({3, 5})}, {"x"});
  const auto second = relu.Backward({Floats({7, 9})}, {"x"});
  ASSAY_RETURN_IF_ERROR(ExpectGradients(second, {{0, 9}}));
  return ExpectGradients(first, {{0, 5}});
}

Status GradientBeforeForward(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         LoadAndBind(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  const std::vector<Value> dy = {Floats({3, 5})};
  ASSAY_RETURN_IF_ERROR(ExpectCode(relu.Backward(dy, {"x"}).status(),
                                   StatusCode::kFailedPrecondition,
                                   "Backward before Forward"));
  ASSAY_RETURN_IF_ERROR(ExpectCode(relu.BindBackward(dy, {"x"}).status(),
                                   StatusCode::kFailedPrecondition,
                                   "BindBackward before Forward"));
  ASSAY_RETURN_IF_ERROR(relu.Forward());
  return ExpectGradients(relu.Backward(dy, {"x"}), {{0, 5}});
}

// Of a the caller gives the memory, between two numbers that must stay.
Status GradientBound(Backend& backend) {
  const Tensor a = *Floats(Shape{2, 2}, {1, 2, 3, 4}).tensor();
  const Tensor dc = *Floats(Shape{2, 2}, {1, 0, 2, -1}).tensor();
  std::array<float, 6> memory = {9, 9, 9, 9, 9, 9};
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor da,
      Tensor::Borrow(DType::kFloat32, {2, 2}, memory.data() + 1));
  ASSAY_ASSIGN_OR_RETURN(Ready product,
                         Forward(backend, kMatMul, {"a", "b"},
                                 {a, Floats(Shape{2, 2}, {5, 6, 7, 8})}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound,
                         product.BindBackward({dc}, {"b", "a"}, {Value(), da}));
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(product.Forward());
    ASSAY_RETURN_IF_ERROR(ExpectGradients(product.RunBackward(*bound),
                                          {{7, -3, 10, -4}, {5, 7, 4, 6}}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(da, {5, 7, 4, 6}, "the memory of the caller"));
  }
  Refill(a, {0, 1, -1, 2});
  Refill(dc, {1, 1, 0, 2});
  ASSAY_RETURN_IF_ERROR(product.Forward());
  ASSAY_RETURN_IF_ERROR(ExpectGradients(product.RunBackward(*bound),
                                        {{0, -2, 1, 5}, {11, 15, 12, 16}}));
  const std::vector<float> all(memory.begin(), memory.end());
  return ExpectFloats(Floats(all), {9, 11, 15, 12, 16, 9},
                      "the memory of the caller and beside it");
}

Status GradientBoundKept(Backend& backend) {
  const Tensor dy = *Floats({3, 5}).tensor();
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound, relu.BindBackward({dy}, {"x"}));
  const auto first = relu.RunBackward(*bound);
  Refill(dy, {7, 9});
  ASSAY_RETURN_IF_ERROR(ExpectGradients(relu.RunBackward(*bound), {{0, 9}}));
  return ExpectGradients(first, {{0, 5}});
}

Status GradientBoundMemory(Backend& backend) {
  const Value square = Floats(Shape{2, 2}, {1, 2, 3, 4});
  const Value dc = Floats(Shape{2, 2}, {1, 0, 2, -1});
  ASSAY_ASSIGN_OR_RETURN(Ready product,
                         Forward(backend, kMatMul, {"a", "b"},
                                 {square, Floats(Shape{2, 2}, {5, 6, 7, 8})}));
  ASSAY_ASSIGN_OR_RETURN(const Tensor wide,
                         Tensor::Allocate(DType::kFloat64, {2, 2}));
  const Value da = Floats(Shape{2, 2}, {0, 0, 0, 0});
  const std::vector<std::vector<Value>> wrong = {{Floats({1, 2}), Value()},
                                                 {Value(), wide},
                                                 {da},
                                                 {da, da},
                                                 {Value(), dc}};
  for (size_t i = 0; i < wrong.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        ExpectCode(product.BindBackward({dc}, {"a", "b"}, wrong[i]).status(),
                   StatusCode::kInvalidArgument, StrCat("wrong memory ", i)));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto bound,
                         product.BindBackward({dc}, {"a", "b"}, {da, Value()}));
  return ExpectGradients(product.RunBackward(*bound),
                         {{5, 7, 4, 6}, {7, -3, 10, -4}});
}

Status GradientFanOut(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready fan,
                         Forward(backend, kFan, {"x"}, {Floats({-1, 2})}));
  const std::vector<Value> dy = {Floats({3, 5})};
  ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.Backward(dy, {"x"}), {{3, 15}}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound, fan.BindBackward(dy, {"x"}));
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.RunBackward(*bound), {{3, 15}}));
  }
  return OkStatus();
}

// In between nothing is promised of the gradients; the memory beside them stays.
Status GradientRefilled(Backend& backend) {
  const Tensor x = *Floats({-1, 2}).tensor();
  std::array<float, 4> memory = {9, 9, 9, 9};
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor dx, Tensor::Borrow(DType::kFloat32, {2}, memory.data() + 1));
  ASSAY_ASSIGN_OR_RETURN(Ready relu, Forward(backend, kRelu, {"x"}, {x}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound,
                         relu.BindBackward({Floats({3, 5})}, {"x"}, {dx}));
  Refill(x, {4, -1});
  static_cast<void>(relu.RunBackward(*bound));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(Floats({memory[0], memory[3]}), {9, 9},
                                     "the memory beside the gradient"));
  ASSAY_RETURN_IF_ERROR(relu.Forward());
  ASSAY_RETURN_IF_ERROR(ExpectGradients(relu.RunBackward(*bound), {{3, 0}}));
  return ExpectFloats(x, {4, -1}, "the input");
}

Status GradientStale(Backend& backend) {
  const Tensor x = *Floats({-1, 2}).tensor();
  ASSAY_ASSIGN_OR_RETURN(Ready fan, Forward(backend, kFan, {"x"}, {x}));
  const std::vector<Value> dy = {Floats({3, 5})};
  ASSAY_ASSIGN_OR_RETURN(const auto bound, fan.BindBackward(dy, {"x"}));
  ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.RunBackward(*bound), {{3, 15}}));
  for (const std::vector<float>& other : {std::vector<float>{1, 1}, {4, -1}}) {
    Refill(x, other);
    ASSAY_RETURN_IF_ERROR(fan.Forward());
  }
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.RunBackward(*bound), {{9, 5}}));
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.Backward(dy, {"x"}), {{9, 5}}));
  }
  return OkStatus();
}

Status GradientTwoBindings(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(Ready one,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  const std::vector<Value> dy = {Floats({3, 5})};
  ASSAY_ASSIGN_OR_RETURN(const auto bound, one.BindBackward(dy, {"x"}));
  const std::vector<Value> inputs = {Floats({1, -2})};
  ASSAY_ASSIGN_OR_RETURN(const auto other, one.network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*one.network, *other));
  const std::vector<std::string> targets = {"x"};
  ASSAY_ASSIGN_OR_RETURN(
      const auto other_bound,
      one.network->differentiable()->BindBackward(*other, dy, targets, {}));
  for (int turn = 0; turn < 2; ++turn) {
    ASSAY_RETURN_IF_ERROR(one.Forward());
    ASSAY_RETURN_IF_ERROR(RunBound(*one.network, *other));
    ASSAY_RETURN_IF_ERROR(ExpectGradients(one.RunBackward(*bound), {{0, 5}}));
    ASSAY_RETURN_IF_ERROR(
        ExpectGradients(one.RunBackward(*other_bound), {{3, 0}}));
    ASSAY_RETURN_IF_ERROR(ExpectGradients(one.Backward(dy, {"x"}), {{0, 5}}));
  }
  return OkStatus();
}

Status GradientUnasked(Backend& backend) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kRelu));
  Differentiable* differentiable = network->differentiable();
  if (differentiable == nullptr) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(
      const auto binding,
      network->Bind(std::vector<Value>{Floats({-1, 2})}, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(*network, *binding));
  const std::vector<Value> dy = {Floats({1, 1})};
  const std::vector<std::string> targets = {"x"};
  return ExpectRefused(differentiable->Backward(*binding, dy, targets).status(),
                       "Backward for x, which was no target at Load");
}

Status GradientUnknown(Backend& backend) {
  LoadOptions options;
  options.gradient_targets = {"no_such_value"};
  return ExpectRefused(Load(backend, kRelu, options).status(),
                       "Load with gradient target no_such_value");
}

Status TrainingMode(Backend& backend) {
  LoadOptions options;
  options.mode = Mode::kTraining;
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, kRelu, options));
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({-1, 2})}));
  return ExpectFloats(y[0], {0, 2}, "Relu in mode training");
}

Status TrainingParameters(Backend& backend) {
  LoadOptions options;
  options.mode = Mode::kTraining;
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend,
           "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> "
           "{ y = Add(x, w) }",
           options));
  Parameters* parameters = network->parameters();
  if (parameters == nullptr) return OkStatus();
  if (parameters->List() != std::vector<std::string>{"w"}) {
    return Broken("found ", parameters->List().size(),
                  " parameters, wanted w only");
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor w, parameters->Read("w"));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(w, {1, 2}, "w as read"));
  ASSAY_RETURN_IF_ERROR(parameters->Write("w", *Floats({10, 20}).tensor()));
  ASSAY_RETURN_IF_ERROR(ExpectFloats(w, {1, 2}, "the copy, after a write"));
  ASSAY_RETURN_IF_ERROR(ExpectRefused(
      parameters->Write("w", *Floats({1, 2, 3}).tensor()), "a wrong shape"));
  ASSAY_RETURN_IF_ERROR(
      ExpectRefused(parameters->Write("v", w), "a write to no parameter"));
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({-1, 2})}));
  return ExpectFloats(y[0], {9, 22}, "a run after the write");
}

}  // namespace assay::contract

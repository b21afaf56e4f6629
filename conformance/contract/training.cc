// SPDX-License-Identifier: Apache-2.0
//
// Training mode and gradients, each honoured or declined. A backend that
// declines at Load has kept the promise: `unsupported` is the answer.

#include <algorithm>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

namespace assay::contract {
namespace {

constexpr char kMatMul[] =
    "g (float[2,2] a, float[2,2] b) => (float[2,2] c) { c = MatMul(a, b) }";

constexpr char kRelu[] = "g (float[2] x) => (float[2] y) { y = Relu(x) }";

/// x and r, the probe of x, are read twice, and so have two gradients to sum.
std::string Fan(const ProbeOperator& probe) {
  return StrCat(
      "g (float[2] x) => (float[2] u, float[2] v, float[2] y, float[2] z) { ",
      probe.Node("r", "x"), " ", probe.Node("u", "x"), " ",
      probe.Node("v", "x"), " ", probe.Node("y", "r"), " ",
      probe.Node("z", "r"), " }");
}

/// The cotangents of u, v, y and z.
const std::vector<std::vector<float>>& FanCotangents() {
  static const auto* cotangents =
      new std::vector<std::vector<float>>{{3, 5}, {1, -2}, {2, 7}, {-4, 1}};
  return *cotangents;
}

/// The gradient of Fan by x.
std::vector<float> FanGradient(const ProbeOperator& probe,
                               const std::vector<float>& x) {
  const auto& d = FanCotangents();
  std::vector<float> sum(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const float r = probe.value(x[i]);
    const float of_r = probe.slope(r) * (d[2][i] + d[3][i]);
    sum[i] = probe.slope(x[i]) * (d[0][i] + d[1][i] + of_r);
  }
  return sum;
}

std::vector<Value> FanFed() {
  std::vector<Value> values;
  for (const auto& cotangent : FanCotangents()) {
    values.push_back(Floats(cotangent));
  }
  return values;
}

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
  Ready ready;
  ASSAY_ASSIGN_OR_RETURN(ready.network,
                         Load(backend, text, {.gradient_targets = targets}));
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

/// The probe of a = {1, -2, 3} and b = {-4, 5, 6}, differentiated by both.
Result<Ready> ForwardTwo(Backend& backend, const ProbeOperator& probe) {
  return Forward(backend, probe.TwoNodes(), {"a", "b"},
                 {Floats({1, -2, 3}), Floats({-4, 5, 6})});
}

std::vector<Value> TwoCotangents() {
  return {Floats({1, 3, 2}), Floats({2, -1, 4})};
}

std::vector<float> GradientOfA(const ProbeOperator& probe) {
  return probe.Gradient({1, -2, 3}, {1, 3, 2});
}

std::vector<float> GradientOfB(const ProbeOperator& probe) {
  return probe.Gradient({-4, 5, 6}, {2, -1, 4});
}

/// The probe of x = {-1, 2}, differentiated by it.
Result<Ready> ForwardOne(Backend& backend, const ProbeOperator& probe) {
  return Forward(backend, probe.Model(), {"x"}, {Floats({-1, 2})});
}

/// The gradient by x = {-1, 2}.
std::vector<float> GradientOfX(const ProbeOperator& probe,
                               const std::vector<float>& dy) {
  return probe.Gradient({-1, 2}, dy);
}

/// The probe of x beside that of the initializer w, which is trained.
Result<std::unique_ptr<Network>> LoadTraining(Backend& backend,
                                              const ProbeOperator& probe) {
  return Load(backend, probe.WithInitializer(),
              {.mode = Mode::kTraining, .trainable = {"w"}});
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

Status GradientRelu(Backend& backend, const ProbeOperator& /*probe*/) {
  ASSAY_ASSIGN_OR_RETURN(Ready relu,
                         Forward(backend, kRelu, {"x"}, {Floats({-1, 2})}));
  return ExpectGradients(relu.Backward({Floats({3, 5})}, {"x"}), {{0, 5}});
}

// dA = dC B^T, dB = A^T dC: Giles, Collected Matrix Derivative Results, 2.2.2.
Status GradientMatMul(Backend& backend, const ProbeOperator& /*probe*/) {
  ASSAY_ASSIGN_OR_RETURN(Ready product,
                         Forward(backend, kMatMul, {"a", "b"},
                                 {Floats(Shape{2, 2}, {1, 2, 3, 4}),
                                  Floats(Shape{2, 2}, {5, 6, 7, 8})}));
  return ExpectGradients(
      product.Backward({Floats(Shape{2, 2}, {1, 0, 2, -1})}, {"a", "b"}),
      {{5, 7, 4, 6}, {7, -3, 10, -4}});
}

Status GradientSubset(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready two, ForwardTwo(backend, probe));
  const std::vector<float> da = GradientOfA(probe);
  const std::vector<float> db = GradientOfB(probe);
  ASSAY_RETURN_IF_ERROR(
      ExpectGradients(two.Backward(TwoCotangents(), {"b"}), {db}));
  return ExpectGradients(two.Backward(TwoCotangents(), {"b", "a"}), {db, da});
}

Status GradientParameter(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready sum, Forward(backend, probe.WithInitializer(),
                                            {"w"}, {Floats({-1, 2})}));
  return ExpectGradients(sum.Backward({Floats({1, 1}), Floats({3, 5})}, {"w"}),
                         {probe.Gradient({1, 2}, {3, 5})});
}

Status GradientAbsentCotangent(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready two, ForwardTwo(backend, probe));
  const std::vector<Value> given = TwoCotangents();
  const std::vector<float> zeros = {0, 0, 0};
  ASSAY_RETURN_IF_ERROR(
      ExpectGradients(two.Backward({given[0], Value()}, {"a", "b"}),
                      {GradientOfA(probe), zeros}));
  return ExpectGradients(two.Backward({Value(), given[1]}, {"a", "b"}),
                         {zeros, GradientOfB(probe)});
}

Status GradientCotangentShape(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready one, ForwardOne(backend, probe));
  ASSAY_ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DType::kFloat64, {2}));
  const std::vector<std::vector<Value>> wrong = {
      {Floats({1, 2, 3})}, {Value(wide)}, {}, {Floats({1, 2}), Value()}};
  for (size_t i = 0; i < wrong.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(ExpectCode(one.Backward(wrong[i], {"x"}).status(),
                                     StatusCode::kInvalidArgument,
                                     StrCat("wrong cotangents ", i)));
  }
  return ExpectGradients(one.Backward({Floats({3, 5})}, {"x"}),
                         {GradientOfX(probe, {3, 5})});
}

Status GradientFresh(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready one, ForwardOne(backend, probe));
  const auto first = one.Backward({Floats({3, 5})}, {"x"});
  const auto second = one.Backward({Floats({7, 9})}, {"x"});
  ASSAY_RETURN_IF_ERROR(ExpectGradients(second, {GradientOfX(probe, {7, 9})}));
  return ExpectGradients(first, {GradientOfX(probe, {3, 5})});
}

Status GradientBeforeForward(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(
      Ready one, LoadAndBind(backend, probe.Model(), {"x"}, {Floats({-1, 2})}));
  const std::vector<Value> dy = {Floats({3, 5})};
  ASSAY_RETURN_IF_ERROR(ExpectCode(one.Backward(dy, {"x"}).status(),
                                   StatusCode::kFailedPrecondition,
                                   "Backward before Forward"));
  ASSAY_RETURN_IF_ERROR(ExpectCode(one.BindBackward(dy, {"x"}).status(),
                                   StatusCode::kFailedPrecondition,
                                   "BindBackward before Forward"));
  ASSAY_RETURN_IF_ERROR(one.Forward());
  return ExpectGradients(one.Backward(dy, {"x"}), {GradientOfX(probe, {3, 5})});
}

// The caller gives the memory for the gradient of a, between two numbers that
// must stay.
Status GradientBound(Backend& backend, const ProbeOperator& probe) {
  const Tensor a = *Floats({1, -2, 3}).tensor();
  const Tensor dc = *Floats({1, 3, 2}).tensor();
  const Value dd = TwoCotangents()[1];
  const std::vector<float> db = GradientOfB(probe);
  ASSAY_ASSIGN_OR_RETURN(const Fenced fenced, FencedFloats(3, 9));
  const Tensor& da = fenced.tensor;
  ASSAY_ASSIGN_OR_RETURN(
      Ready two,
      Forward(backend, probe.TwoNodes(), {"a", "b"}, {a, Floats({-4, 5, 6})}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound,
                         two.BindBackward({dc, dd}, {"b", "a"}, {Value(), da}));
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(two.Forward());
    ASSAY_RETURN_IF_ERROR(
        ExpectGradients(two.RunBackward(*bound), {db, GradientOfA(probe)}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(da, GradientOfA(probe), "the memory of the caller"));
  }
  Refill(a, {-1, 2, 4});
  Refill(dc, {1, 5, -2});
  const std::vector<float> want = probe.Gradient({-1, 2, 4}, {1, 5, -2});
  ASSAY_RETURN_IF_ERROR(two.Forward());
  ASSAY_RETURN_IF_ERROR(ExpectGradients(two.RunBackward(*bound), {db, want}));
  const std::vector<float> all(fenced.memory.get(), fenced.memory.get() + 5);
  return ExpectFloats(Floats(all), {9, want[0], want[1], want[2], 9},
                      "the memory of the caller and beside it");
}

Status GradientBoundKept(Backend& backend, const ProbeOperator& probe) {
  const Tensor dy = *Floats({3, 5}).tensor();
  ASSAY_ASSIGN_OR_RETURN(Ready one, ForwardOne(backend, probe));
  ASSAY_ASSIGN_OR_RETURN(const auto bound, one.BindBackward({dy}, {"x"}));
  const auto first = one.RunBackward(*bound);
  Refill(dy, {7, 9});
  ASSAY_RETURN_IF_ERROR(
      ExpectGradients(one.RunBackward(*bound), {GradientOfX(probe, {7, 9})}));
  return ExpectGradients(first, {GradientOfX(probe, {3, 5})});
}

Status GradientBoundMemory(Backend& backend, const ProbeOperator& probe) {
  const std::vector<Value> cotangents = TwoCotangents();
  ASSAY_ASSIGN_OR_RETURN(Ready two, ForwardTwo(backend, probe));
  ASSAY_ASSIGN_OR_RETURN(const Tensor wide,
                         Tensor::Allocate(DType::kFloat64, {3}));
  const Value da = Floats({0, 0, 0});
  const std::vector<std::vector<Value>> wrong = {{Floats({1, 2}), Value()},
                                                 {Value(), wide},
                                                 {da},
                                                 {da, da},
                                                 {Value(), cotangents[0]}};
  for (size_t i = 0; i < wrong.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        ExpectCode(two.BindBackward(cotangents, {"a", "b"}, wrong[i]).status(),
                   StatusCode::kInvalidArgument, StrCat("wrong memory ", i)));
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto bound,
      two.BindBackward(cotangents, {"a", "b"}, {da, Value()}));
  return ExpectGradients(two.RunBackward(*bound),
                         {GradientOfA(probe), GradientOfB(probe)});
}

Status GradientFanOut(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(
      Ready fan, Forward(backend, Fan(probe), {"x"}, {Floats({-1, 2})}));
  const std::vector<float> want = FanGradient(probe, {-1, 2});
  const std::vector<Value> given = FanFed();
  ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.Backward(given, {"x"}), {want}));
  ASSAY_ASSIGN_OR_RETURN(const auto bound, fan.BindBackward(given, {"x"}));
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.RunBackward(*bound), {want}));
  }
  return OkStatus();
}

// In between nothing is promised of the gradients; the memory beside them
// stays.
Status GradientRefilled(Backend& backend, const ProbeOperator& probe) {
  const Tensor x = *Floats({-1, 2}).tensor();
  ASSAY_ASSIGN_OR_RETURN(const Fenced dx, FencedFloats(2, 9));
  ASSAY_ASSIGN_OR_RETURN(auto one, Forward(backend, probe.Model(), {"x"}, {x}));
  ASSAY_ASSIGN_OR_RETURN(
      const auto bound, one.BindBackward({Floats({3, 5})}, {"x"}, {dx.tensor}));
  Refill(x, {4, -1});
  static_cast<void>(one.RunBackward(*bound));
  ASSAY_RETURN_IF_ERROR(
      ExpectFloats(Floats({dx.memory.get()[0], dx.memory.get()[3]}), {9, 9},
                   "the memory beside the gradient"));
  ASSAY_RETURN_IF_ERROR(one.Forward());
  ASSAY_RETURN_IF_ERROR(ExpectGradients(one.RunBackward(*bound),
                                        {probe.Gradient({4, -1}, {3, 5})}));
  return ExpectFloats(x, {4, -1}, "the input");
}

Status GradientStale(Backend& backend, const ProbeOperator& probe) {
  const Tensor x = *Floats({-1, 2}).tensor();
  ASSAY_ASSIGN_OR_RETURN(Ready fan, Forward(backend, Fan(probe), {"x"}, {x}));
  const std::vector<Value> given = FanFed();
  ASSAY_ASSIGN_OR_RETURN(const auto bound, fan.BindBackward(given, {"x"}));
  ASSAY_RETURN_IF_ERROR(
      ExpectGradients(fan.RunBackward(*bound), {FanGradient(probe, {-1, 2})}));
  for (const std::vector<float>& other : {std::vector<float>{1, 1}, {4, -1}}) {
    Refill(x, other);
    ASSAY_RETURN_IF_ERROR(fan.Forward());
  }
  const std::vector<float> want = FanGradient(probe, {4, -1});
  for (int run = 0; run < 2; ++run) {
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.RunBackward(*bound), {want}));
    ASSAY_RETURN_IF_ERROR(ExpectGradients(fan.Backward(given, {"x"}), {want}));
  }
  return OkStatus();
}

Status GradientTwoBindings(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(Ready one, ForwardOne(backend, probe));
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
    ASSAY_RETURN_IF_ERROR(
        ExpectGradients(one.RunBackward(*bound), {GradientOfX(probe, {3, 5})}));
    ASSAY_RETURN_IF_ERROR(ExpectGradients(one.RunBackward(*other_bound),
                                          {probe.Gradient({1, -2}, {3, 5})}));
    ASSAY_RETURN_IF_ERROR(
        ExpectGradients(one.Backward(dy, {"x"}), {GradientOfX(probe, {3, 5})}));
  }
  return OkStatus();
}

Status GradientUnasked(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
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

Status GradientUnknown(Backend& backend, const ProbeOperator& probe) {
  return ExpectRefused(
      Load(backend, probe.Model(), {.gradient_targets = {"no_such_value"}})
          .status(),
      "Load with gradient target no_such_value");
}

Status TrainingMode(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model(),
                                                  {.mode = Mode::kTraining}));
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({-1, 2})}));
  return ExpectFloats(y[0], probe.Values({-1, 2}), "mode training");
}

Status TrainingParameters(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, LoadTraining(backend, probe));
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
  return ExpectFloats(y[1], probe.Values({10, 20}), "a run after the write");
}

Status TrainingTrainable(Backend& backend, const ProbeOperator& probe) {
  LoadOptions options = {.mode = Mode::kTraining, .trainable = {"v"}};
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend, probe.WithInitializers(), options));
  Parameters* const parameters = network->parameters();
  if (parameters == nullptr) return OkStatus();
  const std::vector<std::string> found = parameters->List();
  if (found != options.trainable) {
    return Broken("found the parameters ", Joined(found), ", wanted v only");
  }
  options.trainable = {"nobody"};
  return ExpectRefused(
      Load(backend, probe.WithInitializers(), options).status(),
      "a trainable initializer that there is not");
}

Status TrainingMemory(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, LoadTraining(backend, probe));
  Parameters* const parameters = network->parameters();
  if (parameters == nullptr) return OkStatus();
  Result<Tensor> memory = parameters->Memory("w");
  if (memory.status().code() == StatusCode::kUnsupported) return OkStatus();
  ASSAY_RETURN_IF_ERROR(memory.status());
  ASSAY_RETURN_IF_ERROR(ExpectFloats(*memory, {1, 2}, "w's memory"));
  for (const std::vector<float>& w : {std::vector<float>{10, 20}, {3, 4}}) {
    std::ranges::copy(w, memory->mutable_elements<float>().begin());
    ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({-1, 2})}));
    ASSAY_RETURN_IF_ERROR(
        ExpectFloats(y[1], probe.Values(w), "a run after w was written"));
  }
  return OkStatus();
}

}  // namespace assay::contract

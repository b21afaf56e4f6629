// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/mutant_backend.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "framework/backend/forwarding_network.h"
#include "framework/backend/function_network.h"

namespace assay::contract {
namespace {

/// A float32 tensor of zeros for what is declared, unknown extents being 1.
Value ZerosFor(const ValueInfo& info) {
  std::vector<int64_t> extents;
  for (const Dim& dim : info.type.dims.value_or(std::vector<Dim>())) {
    extents.push_back(dim.known() ? dim.extent : 1);
  }
  return *Tensor::Allocate(DType::kFloat32, Shape(extents));
}

/// Indices of type int64 as those of a place on the axis of `data`.
Value Clamped(const Value& value, const Tensor& data) {
  if (value.tensor()->dtype() != DType::kInt64) return value;
  Tensor clamped = *value.tensor()->Clone();
  const int64_t count = data.num_elements();
  for (int64_t& i : clamped.mutable_elements<int64_t>()) {
    i = std::clamp(i, -count, count - 1);
  }
  return clamped;
}

std::vector<Value> Clones(std::span<const Value> values) {
  std::vector<Value> clones;
  for (const Value& value : values) {
    clones.push_back(value.present() ? *value.tensor()->Clone() : Value());
  }
  return clones;
}

class MutantBinding final : public Binding {
 public:
  std::span<const Value> outputs() const override { return values; }

  std::unique_ptr<Binding> inner;  // null: bound in spite of a refusal
  std::unique_ptr<Binding> first;  // after the first run, with its inputs
  std::vector<Value> first_inputs;
  std::vector<Value> inputs;
  std::vector<Value> callers;
  std::vector<Value> values;
};

class MutantNetwork final : public Network,
                            public Differentiable,
                            public Parameters {
 public:
  MutantNetwork(Defect defect, std::unique_ptr<Network> inner,
                std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs)
      : defect_(defect),
        inner_(std::move(inner)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override;
  Status Forward(Binding& binding) override;

  Differentiable* differentiable() override {
    return inner_ != nullptr && inner_->differentiable() ? this : nullptr;
  }
  Parameters* parameters() override {
    return inner_ != nullptr && inner_->parameters() ? this : nullptr;
  }

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override;
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override;
  Status RunBackward(GradientBinding& bound) override;

  std::vector<std::string> List() const override {
    return inner_->parameters()->List();
  }
  Result<Tensor> Read(std::string_view name) const override {
    return inner_->parameters()->Read(name);
  }
  Status Write(std::string_view name, const Tensor& value) override {
    return defect_ == Defect::kIgnoresWrites
               ? OkStatus()
               : inner_->parameters()->Write(name, value);
  }

  Result<Tensor> Memory(std::string_view name) override {
    ASSAY_ASSIGN_OR_RETURN(Tensor memory, inner_->parameters()->Memory(name));
    return defect_ == Defect::kGivesACopy ? memory.Clone() : memory;
  }

  bool zeros = false;    // gives zeros
  bool doubles = false;  // gives twice what is right
  Tensor* shared_output = nullptr;

 private:
  Result<std::unique_ptr<Binding>> BindAnyway() const;
  Status Take(MutantBinding& binding);
  void Spoil(MutantBinding& binding, Tensor& output);
  Status KeepFirst(MutantBinding& binding) const;
  /// The binding that is differentiated in place of this one.
  Binding& Differentiated(MutantBinding& binding) const;
  void Spoil(std::vector<Value>& gradients);

  const Defect defect_;
  const std::unique_ptr<Network> inner_;
  const std::vector<ValueInfo> inputs_;
  const std::vector<ValueInfo> outputs_;
  std::optional<Shape> first_;
  std::vector<Value> gradients_;
  Binding* last_ = nullptr;  // to have run
  int runs_ = 0;
};

Result<std::unique_ptr<Binding>> MutantNetwork::BindAnyway() const {
  auto binding = std::make_unique<MutantBinding>();
  for (const ValueInfo& info : outputs_) {
    binding->values.push_back(ZerosFor(info));
  }
  return std::unique_ptr<Binding>(std::move(binding));
}

Result<std::unique_ptr<Binding>> MutantNetwork::Bind(
    std::span<const Value> inputs, std::span<const Value> outputs) {
  if (inner_ == nullptr) return BindAnyway();
  std::vector<Value> given(inputs.begin(), inputs.end());
  if (defect_ == Defect::kDeclaresMore) given.pop_back();
  if (defect_ == Defect::kAsksForInitializers) given.resize(1);
  if (defect_ == Defect::kCopiesInputs) given = Clones(inputs);
  if (defect_ == Defect::kClampsIndices) {
    for (Value& value : given) value = Clamped(value, *given[0].tensor());
  }
  if (defect_ == Defect::kFirstExtentOnly && !given.empty()) {
    const Shape shape = given[0].tensor()->shape();
    if (first_.value_or(shape) != shape) return InvalidArgument("another size");
    first_ = shape;
  }
  if (defect_ == Defect::kOwnOutputsOnly) outputs = {};
  auto inner = inner_->Bind(given, outputs);
  if (!inner.ok() && defect_ == Defect::kBindsEverything) return BindAnyway();
  if (!inner.ok()) return inner.status();
  auto binding = std::make_unique<MutantBinding>();
  binding->inner = *std::move(inner);
  binding->inputs = std::move(given);
  binding->callers.assign(outputs.begin(), outputs.end());
  return std::unique_ptr<Binding>(std::move(binding));
}

Status MutantNetwork::Forward(Binding& binding) {
  auto& own = dynamic_cast<MutantBinding&>(binding);
  if (own.inner == nullptr) return OkStatus();
  ++runs_;
  last_ = own.inner.get();
  const Status status = inner_->Forward(*own.inner);
  if (status.ok()) ASSAY_RETURN_IF_ERROR(KeepFirst(own));
  if (!status.ok() && defect_ == Defect::kReadsOutside) {
    const Tensor& x = *own.inputs[0].tensor();
    std::ranges::fill(
        own.callers[0].mutable_tensor()->mutable_elements<float>(),
        x.elements<float>().data()[x.num_elements()]);
  }
  if (!status.ok()) {
    return defect_ == Defect::kTakesForeignBindings ? OkStatus() : status;
  }
  return Take(own);
}

/// Takes the outputs of the sound network and spoils them.
Status MutantNetwork::Take(MutantBinding& binding) {
  const auto outputs = binding.inner->outputs();
  const std::vector<Value> before = std::move(binding.values);
  binding.values.assign(outputs.begin(), outputs.end());
  for (Value& value : binding.values) Spoil(binding, *value.mutable_tensor());
  if (defect_ == Defect::kSwapsOutputs) std::ranges::reverse(binding.values);
  if (defect_ == Defect::kWritesInputs) {
    binding.inputs[0].mutable_tensor()->mutable_elements<float>()[0] = 0;
  }
  if (defect_ == Defect::kReusesOutputs && !before.empty()) {
    Tensor reused = *before[0].tensor();
    std::ranges::copy(binding.values[0].tensor()->elements<float>(),
                      reused.mutable_elements<float>().begin());
    binding.values[0] = reused;
  }
  if (shared_output != nullptr) {
    Tensor& shared = *shared_output;
    if (!shared.defined()) {
      ASSAY_ASSIGN_OR_RETURN(shared, Tensor::Allocate(DType::kFloat32, {2048}));
    }
    const Tensor& mine = *binding.values[0].tensor();
    std::ranges::copy(mine.elements<float>(),
                      shared.mutable_elements<float>().begin());
    ASSAY_ASSIGN_OR_RETURN(
        binding.values[0],
        Tensor::Borrow(DType::kFloat32, mine.shape(), shared.mutable_data()));
  }
  return OkStatus();
}

void MutantNetwork::Spoil(MutantBinding& binding, Tensor& output) {
  const auto elements = output.mutable_elements<float>();
  const auto fill = [&](float factor) {
    for (float& x : elements) x *= factor;
  };
  const bool misaligned =
      reinterpret_cast<uintptr_t>(binding.inputs[0].tensor()->data()) % 64 != 0;
  if (zeros || (defect_ == Defect::kNeedsAlignment && misaligned)) fill(0);
  if (doubles) fill(2);
  if (defect_ == Defect::kCountsRuns) elements[0] += static_cast<float>(runs_);
  if (defect_ == Defect::kLosesLast && elements.size() % 4 == 3) {
    elements.back() = 0;
  }
  if (defect_ == Defect::kFlushesNan) {
    std::ranges::replace_if(
        elements, [](float x) { return std::isnan(x); }, 0.F);
  }
  if (defect_ == Defect::kAddsAnAxis && output.num_elements() < 2) {
    std::vector<int64_t> extents = output.shape().dims();
    extents.push_back(1);
    output = *output.Reshape(Shape(extents));
  }
}

Status MutantNetwork::KeepFirst(MutantBinding& binding) const {
  if (!binding.first_inputs.empty()) return OkStatus();
  binding.first_inputs = Clones(binding.inputs);
  if (defect_ != Defect::kDifferentiatesTheFirstRun) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(binding.first, inner_->Bind(binding.first_inputs, {}));
  return inner_->Forward(*binding.first);
}

Binding& MutantNetwork::Differentiated(MutantBinding& binding) const {
  if (binding.first != nullptr) return *binding.first;
  const bool last = defect_ == Defect::kDifferentiatesTheLastBinding;
  return last && last_ != nullptr ? *last_ : *binding.inner;
}

Result<std::vector<Value>> MutantNetwork::Backward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets) {
  auto& own = dynamic_cast<MutantBinding&>(binding);
  std::vector<Value> given(cotangents.begin(), cotangents.end());
  if (defect_ == Defect::kAbsentIsOne) {
    for (Value& value : given) {
      if (!value.present()) value = *Tensor::Of<float>({2}, {{1.F, 1.F}});
    }
  }
  for (size_t i = 0; i < own.first_inputs.size(); ++i) {
    if (defect_ == Defect::kRefusesRefilledInputs &&
        !std::ranges::equal(own.inputs[i].tensor()->bytes(),
                            own.first_inputs[i].tensor()->bytes())) {
      return Internal("input ", i, " is no longer what it was");
    }
  }
  auto gradients =
      inner_->differentiable()->Backward(Differentiated(own), given, targets);
  const bool goes_on =
      defect_ == Defect::kTakesEveryCotangent ||
      (defect_ == Defect::kDifferentiatesTheUnrun && own.first_inputs.empty());
  if (!gradients.ok() && goes_on) {
    return std::vector<Value>(targets.size(), ZerosFor(inputs_[0]));
  }
  if (!gradients.ok()) return gradients;
  if (defect_ == Defect::kPassesEveryGradient) return given;
  Spoil(*gradients);
  return gradients;
}

void MutantNetwork::Spoil(std::vector<Value>& gradients) {
  if (defect_ == Defect::kSwapsGradients) std::ranges::reverse(gradients);
  for (Value& value : gradients) {
    const auto elements = value.mutable_tensor()->mutable_elements<float>();
    if (defect_ == Defect::kZeroGradient) std::ranges::fill(elements, 0.F);
    if (defect_ == Defect::kReusesGradients && !gradients_.empty()) {
      Tensor reused = *gradients_[0].tensor();
      std::ranges::copy(elements, reused.mutable_elements<float>().begin());
      value = reused;
    }
  }
  gradients_ = gradients;
}

Result<std::unique_ptr<GradientBinding>> MutantNetwork::BindBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets, std::span<const Value> gradients) {
  const std::vector<Value> copies = Clones(cotangents);
  if (defect_ == Defect::kCopiesCotangents) cotangents = copies;
  if (defect_ == Defect::kOwnGradientsOnly) gradients = {};
  auto bound =
      Differentiable::BindBackward(binding, cotangents, targets, gradients);
  if (bound.ok() || defect_ != Defect::kBindsEveryGradient) return bound;
  return Differentiable::BindBackward(binding, cotangents, targets, {});
}

Status MutantNetwork::RunBackward(GradientBinding& bound) {
  const auto gradients = bound.gradients();
  const std::vector<Value> held(gradients.begin(), gradients.end());
  const std::vector<Value> before = Clones(gradients);
  ASSAY_RETURN_IF_ERROR(Differentiable::RunBackward(bound));
  for (size_t i = 0; i < held.size(); ++i) {
    Tensor now = *bound.gradients()[i].tensor();
    const auto elements = now.mutable_elements<float>();
    if (defect_ == Defect::kWritesHeldGradients) {
      Tensor then = *held[i].tensor();
      std::ranges::copy(elements, then.mutable_elements<float>().begin());
    }
    if (defect_ == Defect::kAddsToGradients) {
      std::ranges::transform(elements, before[i].tensor()->elements<float>(),
                             elements.begin(), std::plus<>());
    }
  }
  return OkStatus();
}

/// Draws with an engine of <random>: the toy has no such operator.
class DrawingNetwork final : public ForwardingNetwork, public Draws {
 public:
  DrawingNetwork(Defect defect, const ValueInfo& info)
      : ForwardingNetwork(MakeFunctionNetwork(
            {{info}, {info}},
            [this](std::span<const Value> inputs) { return Drawn(inputs); })),
        defect_(defect) {}

  Draws* draws() override { return this; }
  Status DrawFrom(uint64_t run_seed, int64_t step) override {
    if (defect_ == Defect::kDrawsAnew) return OkStatus();
    if (defect_ == Defect::kDrawsTheSame) step = 0;
    if (defect_ == Defect::kForgetsTheSeed) run_seed = 0;
    engine_.seed(static_cast<uint32_t>(1000 * run_seed) +
                 static_cast<uint32_t>(step));
    return OkStatus();
  }

 private:
  Result<std::vector<Value>> Drawn(std::span<const Value> inputs) {
    ASSAY_ASSIGN_OR_RETURN(Tensor drawn, inputs[0].tensor()->Clone());
    for (float& element : drawn.mutable_elements<float>()) {
      element = std::uniform_real_distribution<float>()(engine_);
    }
    return std::vector<Value>{std::move(drawn)};
  }

  Defect defect_;
  std::mt19937 engine_;
};

std::vector<ValueInfo> Infos(const Graph& graph,
                             const std::vector<ValueId>& ids) {
  std::vector<ValueInfo> infos;
  for (const ValueId id : ids) {
    infos.push_back(graph.values[static_cast<size_t>(id)]);
  }
  return infos;
}

}  // namespace

Result<std::unique_ptr<Network>> Mutant::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  const Graph& graph = model->graph();
  LoadOptions passed = options;
  if (defect_ == Defect::kForgetsExtraOutputs) passed.extra_outputs.clear();
  if (defect_ == Defect::kTrainsEverything && !passed.trainable.empty()) {
    passed.trainable = {"v", "w"};
  }
  if (defect_ == Defect::kAlwaysDifferentiates) passed.gradient_targets = {"x"};
  const auto here = std::this_thread::get_id();
  if (loaded_ == 0) thread_ = here;
  if (defect_ == Defect::kOneThreadOnly && thread_ != here) {
    return Internal("called from another thread");
  }
  if (!graph.nodes.empty() && graph.nodes[0].op_type == "RandomUniformLike") {
    return std::unique_ptr<Network>(std::make_unique<DrawingNetwork>(
        defect_, Infos(graph, graph.outputs)[0]));
  }
  if (graph.nodes.empty()) broken_ = defect_ == Defect::kBrokenByGarbage;
  auto inner = toy_.Load(model, passed);
  if (!inner.ok() && defect_ != Defect::kLoadsEverything) return inner.status();
  std::vector<ValueInfo> inputs = Infos(graph, graph.inputs);
  std::vector<ValueInfo> outputs = Infos(graph, graph.outputs);
  if (inner.ok()) {
    inputs.assign((*inner)->inputs().begin(), (*inner)->inputs().end());
    outputs.assign((*inner)->outputs().begin(), (*inner)->outputs().end());
  }
  if (defect_ == Defect::kDeclaresMore) inputs.push_back({"z", {}});
  if (defect_ == Defect::kAsksForInitializers) inputs.push_back({"w", {}});
  auto network = std::make_unique<MutantNetwork>(
      defect_, inner.ok() ? *std::move(inner) : nullptr, std::move(inputs),
      std::move(outputs));
  ++loaded_;
  network->zeros =
      broken_ || (defect_ == Defect::kLosesNetworks && loaded_ > 32);
  network->doubles =
      defect_ == Defect::kDoublesInTraining && options.mode == Mode::kTraining;
  if (defect_ == Defect::kSharesOutputs) {
    network->shared_output = &shared_output_;
  }
  return std::unique_ptr<Network>(std::move(network));
}

}  // namespace assay::contract

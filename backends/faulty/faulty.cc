// SPDX-License-Identifier: Apache-2.0
//
// The backend `faulty`: the reference's kernels with one defect, which the
// setting `mutant` names: in some operators, or in the network around them.
// Without the setting it is as right as the reference.

#include <algorithm>
#include <mutex>

#include "backends/faulty/gradient_defect.h"
#include "backends/faulty/mutants.h"
#include "backends/reference/families.h"
#include "framework/backend/forwarding_network.h"
#include "framework/backend/registry.h"

namespace assay::faulty {

/// Right outputs of the network at work and of the one before it, whichever
/// instance of the backend loaded them.
class Memory {
 public:
  static Memory& OfProcess() {
    static Memory memory;
    return memory;
  }

  /// The network before `network`; its `outputs` are kept for the next.
  std::vector<Value> Exchange(const Network* network,
                              std::vector<Value> outputs) {
    const std::lock_guard lock(mutex_);
    if (network != current_) {
      previous_ = std::move(latest_);
      current_ = network;
    }
    latest_ = std::move(outputs);
    return previous_;
  }

  /// An address may be that of another network later.
  void Forget(const Network* network) {
    const std::lock_guard lock(mutex_);
    if (current_ == network) current_ = nullptr;
  }

 private:
  std::mutex mutex_;
  const Network* current_ = nullptr;
  std::vector<Value> latest_;
  std::vector<Value> previous_;
};

class FaultyBinding : public Binding {
 public:
  FaultyBinding(std::unique_ptr<Binding> right, std::span<const Value> inputs,
                std::span<const Value> outputs)
      : right_(std::move(right)),
        inputs_(inputs.begin(), inputs.end()),
        callers_(outputs.begin(), outputs.end()) {
    callers_.resize(right_->outputs().size());
    outputs_ = callers_;
  }

  std::span<const Value> outputs() const override { return outputs_; }
  Binding& right() { return *right_; }
  const Values& inputs() const { return inputs_; }
  const Values& callers() const { return callers_; }
  int64_t CountRun() { return ++runs_; }

  /// Shows the value as output `index`; in the memory `to` where it fits.
  void Show(size_t index, Value wrong, Tensor* to) {
    outputs_.resize(right_->outputs().size());
    const Tensor* from = wrong.tensor();
    if (from == nullptr || to == nullptr || from->dtype() != to->dtype() ||
        from->shape() != to->shape()) {
      outputs_[index] = std::move(wrong);
      return;
    }
    if (from->dtype() == DType::kString) {
      std::ranges::copy(from->strings(), to->mutable_strings().begin());
    } else {
      std::ranges::copy(from->bytes(), to->mutable_data());
    }
    outputs_[index] = *to;
  }

 private:
  std::unique_ptr<Binding> right_;
  Values inputs_;
  Values callers_;  // absent where the caller gave no memory
  Values outputs_;
  int64_t runs_ = 0;
};

class FaultyNetwork : public ForwardingNetwork, public Differentiable {
 public:
  FaultyNetwork(std::unique_ptr<Network> right, const Mutant& mutant)
      : ForwardingNetwork(std::move(right)), mutant_(mutant) {}
  ~FaultyNetwork() override { Memory::OfProcess().Forget(this); }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    Values fed(inputs.begin(), inputs.end());
    if (mutant_.bind != nullptr) {
      ASSAY_RETURN_IF_ERROR(mutant_.bind(inner().inputs(), fed, first_inputs_));
    }
    ASSAY_RETURN_IF_ERROR(
        CheckBind(inner().inputs(), inner().outputs(), fed, outputs));
    ASSAY_ASSIGN_OR_RETURN(auto binding, inner().Bind(fed, {}));
    return std::unique_ptr<Binding>(
        std::make_unique<FaultyBinding>(std::move(binding), inputs, outputs));
  }

  Status Forward(Binding& binding) override {
    auto& faulty = static_cast<FaultyBinding&>(binding);
    ASSAY_RETURN_IF_ERROR(inner().Forward(faulty.right()));
    ASSAY_RETURN_IF_ERROR(inner().Synchronize());
    ASSAY_ASSIGN_OR_RETURN(Values outputs, RightOutputs(faulty));
    Values callers = faulty.callers();
    callers.resize(outputs.size());
    if (mutant_.corrupt != nullptr) {
      ASSAY_RETURN_IF_ERROR(CorruptEach(outputs));
    }
    if (mutant_.run != nullptr) {
      Ran ran{.inputs = faulty.inputs(),
              .outputs = outputs,
              .callers = callers,
              .kept = kept_,
              .run_of_binding = faulty.CountRun(),
              .run_of_network = ++runs_};
      ASSAY_RETURN_IF_ERROR(mutant_.run(ran));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      faulty.Show(i, std::move(outputs[i]), callers[i].mutable_tensor());
    }
    return OkStatus();
  }

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    auto& faulty = static_cast<FaultyBinding&>(binding);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> gradients,
                           inner().differentiable()->Backward(
                               faulty.right(), cotangents, targets));
    if (mutant_.corrupt == nullptr) return gradients;
    for (Value& gradient : gradients) {
      ASSAY_ASSIGN_OR_RETURN(gradient, mutant_.corrupt(gradient, Value()));
    }
    return gradients;
  }

  Differentiable* differentiable() override {
    return inner().differentiable() == nullptr ? nullptr : this;
  }
  // A step of the inner network would want its own bindings.
  NativeStep* native_step() override { return nullptr; }

 private:
  /// Outputs of the right network in memory of their own.
  static Result<Values> RightOutputs(FaultyBinding& faulty) {
    Values right;
    for (const Value& output : faulty.right().outputs()) {
      const Tensor* tensor = output.tensor();
      if (tensor == nullptr) {
        right.push_back(output);
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor->Clone());
      right.push_back(std::move(copy));
    }
    return right;
  }

  Status CorruptEach(Values& outputs) {
    const Values previous = Memory::OfProcess().Exchange(this, outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          outputs[i],
          mutant_.corrupt(outputs[i],
                          i < previous.size() ? previous[i] : Value()));
    }
    return OkStatus();
  }

  const Mutant& mutant_;
  Values first_inputs_;
  Values kept_;
  int64_t runs_ = 0;
};

/// The reference's families behind those of the mutant. It has the backend's
/// name, so that Placement says who ran.
class Mutated : public reference::ReferenceBackend {
 public:
  explicit Mutated(const Mutant* mutant)
      : ReferenceBackend(mutant != nullptr && mutant->operators.family
                             ? mutant->operators.family()
                             : nullptr) {}

  std::string_view name() const override { return "faulty"; }
  Result<Probe> Inspect() override { return Probe{}; }

 protected:
  std::vector<std::string> Settings() const override { return {"mutant"}; }
};

struct HasMutated {
  std::unique_ptr<Mutated> backend;
};

/// A network with its backend, which a network's own training step needs.
class Loaded : private HasMutated, public ForwardingNetwork {
 public:
  static Result<std::unique_ptr<Network>> By(const Mutant* mutant,
                                             std::shared_ptr<const Model> model,
                                             const LoadOptions& options) {
    auto backend = std::make_unique<Mutated>(mutant);
    ASSAY_ASSIGN_OR_RETURN(auto network,
                           backend->Load(std::move(model), options));
    return std::unique_ptr<Network>(
        new Loaded(std::move(backend), std::move(network)));
  }

 private:
  Loaded(std::unique_ptr<Mutated> backend, std::unique_ptr<Network> network)
      : HasMutated{std::move(backend)}, ForwardingNetwork(std::move(network)) {}
};

class Faulty : public Backend {
 public:
  std::string_view name() const override { return "faulty"; }
  Result<Probe> Inspect() override {
    return Probe{.version = ASSAY_VERSION, .device = "cpu"};
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    const auto setting = options.settings.find("mutant");
    if (setting == options.settings.end()) {
      return Loaded::By(nullptr, model, options);
    }
    if (const auto what = ParseGradientMutant(setting->second)) {
      return LoadGradientMutant(model, options, *what);
    }
    if (const auto ignored = IgnoredAttribute(setting->second)) {
      return Mutated(nullptr).Load(WithoutAttribute(*model, *ignored), options);
    }
    if (const auto node = ScaledNode(setting->second)) {
      ASSAY_ASSIGN_OR_RETURN(auto scaled, WithScaledNode(model, *node));
      return Loaded::By(nullptr, std::move(scaled), options);
    }
    const Mutant* const mutant = FindMutant(setting->second);
    if (mutant == nullptr) {
      return InvalidArgument("setting mutant is '", setting->second,
                             "', wanted the name of a line of mutants.txt, or "
                             "scaled:NODE");
    }
    LoadOptions changed = options;
    if (mutant->load != nullptr) {
      ASSAY_RETURN_IF_ERROR(mutant->load(model, changed));
    }
    ASSAY_ASSIGN_OR_RETURN(auto network, Loaded::By(mutant, model, changed));
    if (mutant->corrupt == nullptr && mutant->run == nullptr &&
        mutant->bind == nullptr) {
      return network;
    }
    return std::unique_ptr<Network>(
        std::make_unique<FaultyNetwork>(std::move(network), *mutant));
  }

 private:
  Result<std::unique_ptr<Network>> LoadGradientMutant(
      const std::shared_ptr<const Model>& model, const LoadOptions& options,
      const GradientMutant& what) {
    ASSAY_ASSIGN_OR_RETURN(auto right, Loaded::By(nullptr, model, options));
    if (what.mutant.empty()) {
      return WithSpoiledGradient(std::move(right), *model, options, what);
    }
    LoadOptions changed = options;
    changed.settings["mutant"] = what.mutant;
    ASSAY_ASSIGN_OR_RETURN(auto wrong, Load(model, changed));
    return WithGradientsOf(std::move(right), std::move(wrong));
  }
};

ASSAY_REGISTER_BACKEND(Faulty);

}  // namespace assay::faulty

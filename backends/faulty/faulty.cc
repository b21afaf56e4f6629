// SPDX-License-Identifier: Apache-2.0
//
// The backend `faulty`: the reference's kernels behind a network that corrupts
// every output and gradient, or what it runs on, as the setting `mutant` says.
// Without the setting it is as right as the reference.

#include <algorithm>
#include <mutex>

#include "backends/faulty/mutants.h"
#include "backends/reference/families.h"
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
  FaultyBinding(std::unique_ptr<Binding> right, std::span<const Value> outputs)
      : right_(std::move(right)), callers_(outputs.begin(), outputs.end()) {
    callers_.resize(right_->outputs().size());
    outputs_ = callers_;
  }

  std::span<const Value> outputs() const override { return outputs_; }
  Binding& right() { return *right_; }

  /// Shows the value as output `index`; in the caller's memory where there is
  /// any that it fits into.
  void Show(size_t index, Value wrong) {
    outputs_.resize(right_->outputs().size());
    const Tensor* from = wrong.tensor();
    Tensor* to =
        index < callers_.size() ? callers_[index].mutable_tensor() : nullptr;
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
  std::vector<Value> callers_;  // absent where the caller gave no memory
  std::vector<Value> outputs_;
};

class FaultyNetwork : public Network, public Differentiable {
 public:
  FaultyNetwork(std::unique_ptr<Network> right, const Mutant& mutant,
                std::shared_ptr<const Model> model)
      : right_(std::move(right)), mutant_(mutant), model_(std::move(model)) {}
  ~FaultyNetwork() override { Memory::OfProcess().Forget(this); }

  std::span<const ValueInfo> inputs() const override {
    return right_->inputs();
  }
  std::span<const ValueInfo> outputs() const override {
    return right_->outputs();
  }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(
        CheckBind(right_->inputs(), right_->outputs(), inputs, outputs));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> fed,
                           mutant_.feed(model_->graph(), inputs));
    ASSAY_ASSIGN_OR_RETURN(auto binding, right_->Bind(fed, {}));
    return std::unique_ptr<Binding>(
        std::make_unique<FaultyBinding>(std::move(binding), outputs));
  }

  Status Forward(Binding& binding) override {
    auto& faulty = static_cast<FaultyBinding&>(binding);
    ASSAY_RETURN_IF_ERROR(right_->Forward(faulty.right()));
    ASSAY_RETURN_IF_ERROR(right_->Synchronize());
    std::vector<Value> right;
    for (const Value& output : faulty.right().outputs()) {
      const Tensor* tensor = output.tensor();
      if (tensor == nullptr) {
        right.push_back(output);
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor->Clone());
      right.push_back(std::move(copy));
    }
    const std::vector<Value> previous =
        Memory::OfProcess().Exchange(this, right);
    for (size_t i = 0; i < right.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          Value wrong,
          mutant_.corrupt(right[i],
                          i < previous.size() ? previous[i] : Value()));
      faulty.Show(i, std::move(wrong));
    }
    return OkStatus();
  }

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    auto& faulty = static_cast<FaultyBinding&>(binding);
    ASSAY_ASSIGN_OR_RETURN(std::vector<Value> gradients,
                           right_->differentiable()->Backward(
                               faulty.right(), cotangents, targets));
    for (Value& gradient : gradients) {
      ASSAY_ASSIGN_OR_RETURN(gradient, mutant_.corrupt(gradient, Value()));
    }
    return gradients;
  }

  Differentiable* differentiable() override {
    return right_->differentiable() == nullptr ? nullptr : this;
  }
  Parameters* parameters() override { return right_->parameters(); }
  Placement* placement() override { return right_->placement(); }

 private:
  std::unique_ptr<Network> right_;
  const Mutant& mutant_;
  std::shared_ptr<const Model> model_;
};

class Faulty : public EagerBackend {
 public:
  Faulty() {
    AddFamily(SeedFamily());
    reference::AddReferenceFamilies(*this);
  }

  std::string_view name() const override { return "faulty"; }
  Result<Probe> Inspect() override {
    return Probe{.version = ASSAY_VERSION, .device = "cpu"};
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    const auto setting = options.settings.find("mutant");
    const Mutant* mutant = nullptr;
    if (setting != options.settings.end()) {
      mutant = FindMutant(setting->second);
      if (mutant == nullptr) return UnknownMutant(setting->second);
    }
    ASSAY_ASSIGN_OR_RETURN(auto network, EagerBackend::Load(model, options));
    if (mutant == nullptr) return network;
    return std::unique_ptr<Network>(std::make_unique<FaultyNetwork>(
        std::move(network), *mutant, std::move(model)));
  }

 protected:
  std::vector<std::string> Settings() const override { return {"mutant"}; }

 private:
  static Status UnknownMutant(std::string_view name) {
    std::string known;
    for (const Mutant& mutant : Mutants()) {
      known.append(known.empty() ? "" : ", ").append(mutant.name);
    }
    return InvalidArgument("setting mutant is '", name, "', wanted one of ",
                           known);
  }
};

ASSAY_REGISTER_BACKEND(Faulty);

}  // namespace assay::faulty

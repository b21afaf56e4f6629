// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/native/native_network.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/scalar/seeds.h"
#include "framework/backend/forwarding_network.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/graph/model.h"

namespace assay::reference {
namespace {

/// Its operators draw from the seed of a run and the number of a step.
class DrawingNetwork : public ForwardingNetwork, private Draws {
 public:
  using ForwardingNetwork::ForwardingNetwork;

  Draws* draws() override { return this; }

  Status Forward(Binding& binding) override {
    if (!first_.has_value()) return inner().Forward(binding);
    Seeds seeds(*first_);
    const Seeds::Scope drawing(&seeds);
    return inner().Forward(binding);
  }

 private:
  Status DrawFrom(uint64_t run_seed, int64_t step) override {
    const auto high = [](uint64_t n) {
      return static_cast<uint32_t>(n >> 32U);
    };
    const auto low = [](uint64_t n) { return static_cast<uint32_t>(n); };
    const auto number = static_cast<uint64_t>(step);
    std::seed_seq mixed{high(run_seed), low(run_seed), high(number),
                        low(number)};
    std::array<uint32_t, 2> words = {};
    mixed.generate(words.begin(), words.end());
    first_ = uint64_t{words[0]} << 32U | words[1];
    return OkStatus();
  }

  std::optional<uint64_t> first_;  // seed of a step
};

/// An operator of ai.onnx.preview.training with its attributes.
struct Optimization {
  std::string op_type;
  std::vector<Attribute> attributes;
  int64_t slots = 0;  // the tensors of state that it has
  double rate = 0;
};

constexpr std::string_view kRate = "rate";

struct Hyperparameter {
  std::string_view name, attribute;
  double otherwise;
  bool is_rest = false;  // the attribute is what it leaves of 1
};

struct Form {
  std::string_view optimizer, op_type, mode;
  int64_t slots;
  std::vector<Hyperparameter> known;
};

/// The attributes of Adagrad-1, Adam-1 and Momentum-1.
const std::vector<Form>& Forms() {
  static const auto* const kForms = [] {
    const Hyperparameter epsilon = {"epsilon", "epsilon", 1e-6};
    const Hyperparameter decay = {"weight_decay", "norm_coefficient", 0};
    const Hyperparameter after = {"weight_decay", "norm_coefficient_post", 0};
    const Hyperparameter beta1 = {"beta1", "alpha", 0.9};
    const Hyperparameter beta2 = {"beta2", "beta", 0.999};
    const Hyperparameter momentum = {"momentum", "alpha", 0.9};
    const Hyperparameter dampening = {"dampening", "beta", 0, true};
    return new std::vector<Form>{
        {"adagrad",
         "Adagrad",
         "",
         1,
         {epsilon, {"rate_decay", "decay_factor", 0}, decay}},
        {"adam", "Adam", "", 2, {beta1, beta2, epsilon, decay}},
        {"adamw", "Adam", "", 2, {beta1, beta2, epsilon, after}},
        {"momentum", "Momentum", "standard", 1, {momentum, dampening, decay}},
        {"nesterov", "Momentum", "nesterov", 1, {momentum, dampening, decay}},
    };
  }();
  return *kForms;
}

/// A graph of one node, of which Model wants no bytes.
std::shared_ptr<const Model> UpdateModel(const Optimization& what,
                                         const Tensor& parameter) {
  constexpr const char* kDomain = "ai.onnx.preview.training";
  Graph graph;
  graph.name = "update";
  Node node;
  node.op_type = what.op_type;
  node.domain = kDomain;
  node.opset = 1;
  node.attributes = what.attributes;
  const auto add = [&](std::vector<ValueId>& of_graph,
                       std::vector<ValueId>& of_node, std::string name,
                       const ValueType& type) {
    const auto id = static_cast<ValueId>(graph.values.size());
    graph.values.push_back({std::move(name), type});
    of_graph.push_back(id);
    of_node.push_back(id);
  };
  const auto read =
      std::bind_front(add, std::ref(graph.inputs), std::ref(node.inputs));
  const auto write =
      std::bind_front(add, std::ref(graph.outputs), std::ref(node.outputs));
  const ValueType of_parameter = ValueType::OfTensor(parameter);
  read("r", ValueType::OfTensor(parameter.dtype(), std::vector<Dim>()));
  read("t", ValueType::OfTensor(DType::kInt64, std::vector<Dim>()));
  read("x", of_parameter);
  read("g", of_parameter);
  write("next_x", of_parameter);
  for (int64_t i = 0; i < what.slots; ++i) {
    read(StrCat("s", i), of_parameter);
    write(StrCat("next_s", i), of_parameter);
  }
  graph.nodes.push_back(std::move(node));
  Model::Parts parts;
  parts.ir_version = 10;
  parts.opsets = {{kDomain, 1}};
  parts.graph = std::move(graph);
  // It has no bytes for ONNX's checker, and every type.
  parts.checked = parts.inferred = true;
  return std::make_shared<const Model>(std::move(parts));
}

std::vector<std::string> OptimizationNames() {
  std::vector<std::string> names;
  for (const Form& form : Forms()) names.emplace_back(form.optimizer);
  return names;
}

/// Invalid argument for a name or a hyperparameter that there is not, and where
/// there is no rate.
Result<Optimization> OptimizationOf(
    std::string_view optimizer,
    const std::map<std::string, double>& hyperparameters) {
  const auto form = std::ranges::find(Forms(), optimizer, &Form::optimizer);
  if (form == Forms().end()) {
    return InvalidArgument("found the optimizer '", optimizer, "', wanted ",
                           Joined(OptimizationNames()));
  }
  for (const auto& [name, number] : hyperparameters) {
    if (name == kRate ||
        std::ranges::count(form->known, name, &Hyperparameter::name) > 0) {
      continue;
    }
    return InvalidArgument(optimizer, ": found the hyperparameter '", name,
                           "', wanted ", kRate, ", ",
                           Joined(form->known, ", ", &Hyperparameter::name));
  }
  const auto rate = hyperparameters.find(std::string(kRate));
  if (rate == hyperparameters.end()) {
    return InvalidArgument(optimizer, ": found no rate, wanted one");
  }
  std::vector<Attribute> attributes;
  if (!form->mode.empty()) {
    attributes.push_back({"mode", std::string(form->mode), ""});
  }
  for (const Hyperparameter& known : form->known) {
    const auto said = hyperparameters.find(std::string(known.name));
    const double number =
        said == hyperparameters.end() ? known.otherwise : said->second;
    attributes.push_back(
        {std::string(known.attribute),
         static_cast<float>(known.is_rest ? 1 - number : number), ""});
  }
  return Optimization{std::string(form->op_type), std::move(attributes),
                      form->slots, rate->second};
}

/// The update of one parameter, with its state. It owns its network and its
/// state; the backend must live as long.
class NativeUpdate {
 public:
  /// For parameters like this one, of float32 or float64.
  static Result<std::unique_ptr<NativeUpdate>> Load(Backend& backend,
                                                    const Optimization& what,
                                                    const Tensor& parameter);

  /// The next value; the state goes on.
  Result<Tensor> Step(const Tensor& parameter, const Tensor& gradient);

 private:
  NativeUpdate() = default;

  std::unique_ptr<Network> network_;
  Tensor rate_;
  int64_t updates_ = 0;
  std::vector<v1::Value> state_;
};

Result<std::unique_ptr<NativeUpdate>> NativeUpdate::Load(
    Backend& backend, const Optimization& what, const Tensor& parameter) {
  std::unique_ptr<NativeUpdate> update(new NativeUpdate);
  ASSAY_ASSIGN_OR_RETURN(update->network_,
                         backend.Load(UpdateModel(what, parameter), {}));
  const auto rate32 = static_cast<float>(what.rate);
  ASSAY_ASSIGN_OR_RETURN(update->rate_,
                         parameter.dtype() == DType::kFloat64
                             ? Tensor::Of<double>({}, std::span(&what.rate, 1))
                             : Tensor::Of<float>({}, std::span(&rate32, 1)));
  for (int64_t i = 0; i < what.slots; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        auto slot, Tensor::Allocate(parameter.dtype(), parameter.shape()));
    std::ranges::fill(std::span(slot.mutable_data(), slot.bytes().size()),
                      std::byte{0});
    update->state_.emplace_back(std::move(slot));
  }
  return update;
}

Result<Tensor> NativeUpdate::Step(const Tensor& parameter,
                                  const Tensor& gradient) {
  ASSAY_ASSIGN_OR_RETURN(auto count,
                         Tensor::Of<int64_t>({}, std::span(&updates_, 1)));
  std::vector<v1::Value> inputs = {rate_, std::move(count), parameter,
                                   gradient};
  inputs.insert(inputs.end(), state_.begin(), state_.end());
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network_->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(network_->Forward(*binding));
  const std::span<const v1::Value> outputs = binding->outputs();
  state_.assign(outputs.begin() + 1, outputs.end());
  ++updates_;
  return *outputs[0].tensor();
}

/// The trainable initializers that the operators can update: all, or none where
/// one of them is of another type.
std::vector<std::string> Updated(const Model& model,
                                 const LoadOptions& options) {
  const Graph& graph = model.graph();
  for (const std::string& name : options.trainable) {
    const v1::Value* const value = graph.FindInitializer(graph.FindValue(name));
    const Tensor* const tensor = value == nullptr ? nullptr : value->tensor();
    if (tensor == nullptr) return {};
    const DType type = tensor->dtype();
    if (type != DType::kFloat32 && type != DType::kFloat64) return {};
  }
  return options.trainable;
}

/// A one like the loss, which has one element.
Result<Tensor> OneLike(const v1::Value& loss) {
  const Tensor* const tensor = loss.tensor();
  if (tensor != nullptr && tensor->num_elements() == 1) {
    constexpr float kOne32 = 1;
    constexpr double kOne64 = 1;
    if (tensor->dtype() == DType::kFloat32) {
      return Tensor::Of<float>(tensor->shape(), std::span(&kOne32, 1));
    }
    if (tensor->dtype() == DType::kFloat64) {
      return Tensor::Of<double>(tensor->shape(), std::span(&kOne64, 1));
    }
  }
  return InvalidArgument("the loss is ", loss.Type().ToString(),
                         ", wanted one element of float32 or float64");
}

class NativeNetwork : public ForwardingNetwork, private NativeStep {
 public:
  NativeNetwork(Backend& backend, std::unique_ptr<Network> inner,
                std::vector<std::string> parameters, bool shows_gradients)
      : ForwardingNetwork(std::move(inner)),
        backend_(backend),
        names_(std::move(parameters)),
        shows_gradients_(shows_gradients) {}

  /// Null where the caller asked for none.
  Differentiable* differentiable() override {
    return shows_gradients_ ? inner().differentiable() : nullptr;
  }
  NativeStep* native_step() override { return this; }

 private:
  std::vector<std::string> Optimizers() const override {
    return OptimizationNames();
  }
  Status Configure(
      std::string_view optimizer,
      const std::map<std::string, double>& hyperparameters) override;
  /// Failed precondition before Configure. A failed step may have updated some
  /// of the parameters.
  Status Step(Binding& binding, std::string_view loss) override;

  /// The gradient of each parameter, in the order of their names.
  Result<std::vector<v1::Value>> Gradients(Binding& binding,
                                           std::string_view loss);

  Backend& backend_;
  std::vector<std::string> names_;
  bool shows_gradients_;
  std::vector<std::unique_ptr<NativeUpdate>> updates_;  // of each
};

Status NativeNetwork::Configure(
    std::string_view optimizer,
    const std::map<std::string, double>& hyperparameters) {
  ASSAY_ASSIGN_OR_RETURN(const Optimization what,
                         OptimizationOf(optimizer, hyperparameters));
  std::vector<std::unique_ptr<NativeUpdate>> updates;
  for (const std::string& name : names_) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor parameter,
                           std::as_const(*parameters()).Read(name));
    ASSAY_ASSIGN_OR_RETURN(updates.emplace_back(),
                           NativeUpdate::Load(backend_, what, parameter));
  }
  updates_ = std::move(updates);
  return OkStatus();
}

Result<std::vector<v1::Value>> NativeNetwork::Gradients(Binding& binding,
                                                        std::string_view loss) {
  const auto found = std::ranges::find(outputs(), loss, &ValueInfo::name);
  if (found == outputs().end()) {
    return NotFound("the network has no output '", loss, "'");
  }
  ASSAY_RETURN_IF_ERROR(Forward(binding));
  const auto place = static_cast<size_t>(found - outputs().begin());
  std::vector<v1::Value> cotangents(outputs().size());
  ASSAY_ASSIGN_OR_RETURN(cotangents[place], OneLike(binding.outputs()[place]));
  return inner().differentiable()->Backward(binding, cotangents, names_);
}

Status NativeNetwork::Step(Binding& binding, std::string_view loss) {
  if (updates_.empty()) {
    return FailedPrecondition("a step was asked for before an optimizer");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Value> gradients,
                         Gradients(binding, loss));
  for (size_t i = 0; i < names_.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor parameter,
                           std::as_const(*parameters()).Read(names_[i]));
    ASSAY_ASSIGN_OR_RETURN(
        const Tensor next,
        updates_[i]->Step(parameter, *gradients[i].tensor()));
    ASSAY_RETURN_IF_ERROR(parameters()->Write(names_[i], next));
  }
  return OkStatus();
}

}  // namespace

std::unique_ptr<Network> WithDraws(std::unique_ptr<Network> network) {
  return std::make_unique<DrawingNetwork>(std::move(network));
}

Result<std::unique_ptr<Network>> LoadNative(
    Backend& backend, const std::shared_ptr<const Model>& model,
    const LoadOptions& options, const LoadPlain& load) {
  std::vector<std::string> names = Updated(*model, options);
  LoadOptions wide = options;
  for (const std::string& name : names) {
    if (std::ranges::count(wide.gradient_targets, name) > 0) continue;
    wide.gradient_targets.push_back(name);
  }
  if (names.empty()) return load(model, options);
  auto inner = load(model, wide);
  // It may still be run, and its parameters be written.
  if (inner.status().code() == StatusCode::kUnsupported) {
    return load(model, options);
  }
  if (!inner.ok()) return inner.status();
  return std::make_unique<NativeNetwork>(backend, *std::move(inner),
                                         std::move(names),
                                         !options.gradient_targets.empty());
}

}  // namespace assay::reference

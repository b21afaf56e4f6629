// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/eager.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <typeinfo>
#include <utility>

#include "framework/backend/eager/compile.h"
#include "framework/backend/eager/flow/flow.h"
#include "framework/backend/eager/frame.h"
#include "framework/backend/eager/gradient.h"
#include "framework/backend/eager/gradient_run.h"
#include "framework/backend/eager/part.h"
#include "framework/graph/types/check.h"

namespace assay::eager {
namespace {

/// A compiled Program as a Network, with what it can offer beyond Forward.
class EagerNetwork final : public Network,
                           private Differentiable,
                           private Parameters,
                           private Placement {
 public:
  /// `executor` is who runs a kernel that names nobody.
  static Result<std::unique_ptr<Network>> Load(
      const std::shared_ptr<const Model>& model, const KernelSource& kernels,
      std::string_view executor, const LoadOptions& options);

  /// The same of a graph in the form that PrepareGraph gives. It has no
  /// parameters.
  static Result<std::unique_ptr<Network>> LoadGraph(
      std::shared_ptr<const Graph> graph, const KernelSource& kernels,
      std::string_view executor, const LoadOptions& options);

  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override;
  Status Forward(Binding& binding) override;

  Differentiable* differentiable() override {
    return plan_.has_value() ? this : nullptr;
  }
  Parameters* parameters() override {
    return offers_parameters_ ? this : nullptr;
  }
  Placement* placement() override { return this; }

 private:
  EagerNetwork() = default;

  /// Makes the program of the graph, and all that is offered.
  Status Finish(const KernelSource& kernels, const LoadOptions& options);
  /// Makes the program, with function bodies where kernels are missing.
  Status MakeProgram(const KernelSource& kernels, const LoadOptions& options);
  Status FindParameters(const Model& model, const LoadOptions& options);
  Status AddOutputs(const LoadOptions& options);
  void Declare(const LoadScope& scope);

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override;
  Result<std::unique_ptr<GradientBinding>> BindBackward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets,
      std::span<const Value> gradients) override;
  Status RunBackward(GradientBinding& bound) override;

  std::vector<std::string> List() const override;
  Result<Tensor> Read(std::string_view name) const override;
  Status Write(std::string_view name, const Tensor& value) override;
  Result<Tensor> Memory(std::string_view name) override;
  /// Index among the program's constants.
  Result<size_t> FindParameter(std::string_view name) const;

  std::vector<PlacedNode> Placed() const override;

  std::shared_ptr<const Graph> graph_;
  Program program_;
  std::optional<GradientPlan> plan_;
  std::vector<bool> is_parameter_;  // by ValueId
  bool offers_parameters_ = false;
  std::set<size_t> own_;  // constants in memory of this network's alone
  std::string executor_;
  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

struct EagerBinding final : Binding {
  EagerBinding(const EagerNetwork& network, Program& program,
               std::span<const Value> inputs, std::span<const Value> given)
      : network(network),
        values(program.outputs.size()),
        frame(program, nullptr, Filled(values, given)) {
    for (size_t i = 0; i < inputs.size(); ++i) frame.SetInput(i, inputs[i]);
  }

  std::span<const Value> outputs() const override { return values; }

  static std::span<Value> Filled(std::vector<Value>& values,
                                 std::span<const Value> given) {
    std::ranges::copy(given, values.begin());
    return values;
  }

  const EagerNetwork& network;
  std::vector<Value> values;  // the outputs
  Frame frame;
};

/// The binding as one of this network's; null for any other.
EagerBinding* OwnBinding(Binding& binding, const EagerNetwork* network) {
  if (typeid(binding) != typeid(EagerBinding)) return nullptr;
  auto& own = static_cast<EagerBinding&>(binding);
  return &own.network == network ? &own : nullptr;
}

Status ForeignBinding() {
  return InvalidArgument("the binding was made by another network");
}

Status NoForward() {
  return FailedPrecondition("backward was called before a forward");
}

/// The framework's own operations read and write memory of the CPU.
Status CheckDevice(std::span<const ValueInfo> declared,
                   std::span<const Value> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor* tensor = values[i].tensor();
    if (tensor == nullptr || tensor->device() == Device()) continue;
    return Unsupported(Reason::kDevice, "'", declared[i].name,
                       "' is in device memory, wanted memory of the CPU");
  }
  return OkStatus();
}

/// The initializers of the model as written; those that an operator's upgrade
/// made of its attributes are no parameters.
Status EagerNetwork::FindParameters(const Model& model,
                                    const LoadOptions& options) {
  is_parameter_.assign(graph_->values.size(), false);
  const bool is_training = options.mode == Mode::kTraining;
  offers_parameters_ = is_training;
  std::set<std::string_view> wanted(options.gradient_targets.begin(),
                                    options.gradient_targets.end());
  std::set<std::string_view> missing;
  if (is_training) {
    missing.insert(options.trainable.begin(), options.trainable.end());
    wanted.insert(missing.begin(), missing.end());
  }
  for (const Initializer& initializer : model.graph().initializers) {
    const Tensor* tensor = initializer.value.tensor();
    if (tensor == nullptr || !flow::IsGradientType(tensor->dtype())) continue;
    const std::string& name = model.graph()[initializer.id].name;
    if (!wanted.contains(name)) continue;
    missing.erase(name);
    const ValueId id = graph_->FindValue(name);
    if (id == kNoValue) continue;  // the upgrade took it away
    is_parameter_[static_cast<size_t>(id)] = true;
    offers_parameters_ = true;
  }
  if (missing.empty()) return OkStatus();
  return NotFound(
      "'", *missing.begin(),
      "' is to be trained, and is no initializer of floating point");
}

Status EagerNetwork::AddOutputs(const LoadOptions& options) {
  for (const std::string& name : options.extra_outputs) {
    const ValueId id = graph_->FindValue(name);
    if (id == kNoValue) {
      return NotFound("extra output '", name, "' is no value of the graph");
    }
    program_.outputs.push_back(id);
  }
  return OkStatus();
}

void EagerNetwork::Declare(const LoadScope& scope) {
  const auto info = [&](ValueId id) {
    const auto at = static_cast<size_t>(id);
    return ValueInfo{graph_->values[at].name, *scope.types[at]};
  };
  for (const ValueId id : program_.inputs) inputs_.push_back(info(id));
  for (const ValueId id : program_.outputs) outputs_.push_back(info(id));
}

Status EagerNetwork::MakeProgram(const KernelSource& kernels,
                                 const LoadOptions& options) {
  Result<Program> whole =
      Compile(*graph_, nullptr, is_parameter_, kernels, options);
  if (whole.status().code() == StatusCode::kUnsupported) {
    ASSAY_ASSIGN_OR_RETURN(
        Graph expanded,
        ExpandDeclined(*graph_, nullptr, is_parameter_, kernels, options));
    graph_ = std::make_shared<const Graph>(std::move(expanded));
    // A body of ONNX's may be of two types where a node is not of float32.
    if (const Status typed = types::CheckTypes(*graph_); !typed.ok()) {
      return Unsupported(Reason::kDType,
                         "as its function body: ", typed.message());
    }
    is_parameter_.resize(graph_->values.size(), false);
    whole = Compile(*graph_, nullptr, is_parameter_, kernels, options);
  }
  ASSAY_ASSIGN_OR_RETURN(program_, std::move(whole));
  return OkStatus();
}

Status EagerNetwork::Finish(const KernelSource& kernels,
                            const LoadOptions& options) {
  ASSAY_RETURN_IF_ERROR(MakeProgram(kernels, options));
  ASSAY_RETURN_IF_ERROR(AddOutputs(options));
  const LoadScope scope(*graph_, nullptr, is_parameter_);
  Declare(scope);
  if (options.gradient_targets.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(
      plan_, PlanGradient(program_, scope, options.gradient_targets, options,
                          kernels.make_backward));
  return OkStatus();
}

Result<std::unique_ptr<Network>> EagerNetwork::Load(
    const std::shared_ptr<const Model>& model, const KernelSource& kernels,
    std::string_view executor, const LoadOptions& options) {
  auto network = std::unique_ptr<EagerNetwork>(new EagerNetwork);
  network->executor_ = executor;
  ASSAY_ASSIGN_OR_RETURN(network->graph_, PrepareGraph(model));
  ASSAY_RETURN_IF_ERROR(types::CheckTypes(*network->graph_));
  ASSAY_RETURN_IF_ERROR(network->FindParameters(*model, options));
  ASSAY_RETURN_IF_ERROR(network->Finish(kernels, options));
  return std::unique_ptr<Network>(std::move(network));
}

Result<std::unique_ptr<Network>> EagerNetwork::LoadGraph(
    std::shared_ptr<const Graph> graph, const KernelSource& kernels,
    std::string_view executor, const LoadOptions& options) {
  auto network = std::unique_ptr<EagerNetwork>(new EagerNetwork);
  network->executor_ = executor;
  network->graph_ = std::move(graph);
  network->is_parameter_.assign(network->graph_->values.size(), false);
  ASSAY_RETURN_IF_ERROR(network->Finish(kernels, options));
  return std::unique_ptr<Network>(std::move(network));
}

Result<std::unique_ptr<Binding>> EagerNetwork::Bind(
    std::span<const Value> inputs, std::span<const Value> outputs) {
  ASSAY_RETURN_IF_ERROR(CheckBind(inputs_, outputs_, inputs, outputs));
  ASSAY_RETURN_IF_ERROR(CheckDevice(inputs_, inputs));
  ASSAY_RETURN_IF_ERROR(CheckDevice(outputs_, outputs));
  auto binding =
      std::make_unique<EagerBinding>(*this, program_, inputs, outputs);
  ASSAY_RETURN_IF_ERROR(binding->frame.Prepare());
  return std::unique_ptr<Binding>(std::move(binding));
}

Status EagerNetwork::Forward(Binding& binding) {
  EagerBinding* const own = OwnBinding(binding, this);
  if (own == nullptr) return ForeignBinding();
  return own->frame.Run();
}

Result<std::vector<Value>> EagerNetwork::Backward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets) {
  EagerBinding* const own = OwnBinding(binding, this);
  if (own == nullptr) return ForeignBinding();
  if (!own->frame.complete()) return NoForward();
  return eager::RunBackward(*plan_, own->frame, cotangents, targets);
}

Result<std::unique_ptr<GradientBinding>> EagerNetwork::BindBackward(
    Binding& binding, std::span<const Value> cotangents,
    std::span<const std::string> targets, std::span<const Value> gradients) {
  EagerBinding* const own = OwnBinding(binding, this);
  if (own == nullptr) return ForeignBinding();
  if (!own->frame.complete()) return NoForward();
  ASSAY_ASSIGN_OR_RETURN(
      std::unique_ptr<GradientRun> run,
      GradientRun::Make(*plan_, own->frame, cotangents, targets));
  ASSAY_RETURN_IF_ERROR(CheckDevice(outputs_, cotangents));
  const std::vector<ValueInfo> infos = run->targets();
  std::vector<ValueInfo> names = inputs_;
  std::vector<Value> others;
  for (const ValueId id : program_.inputs)
    others.push_back(own->frame.value(id));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    others.push_back(own->values[i]);
    names.push_back(outputs_[i]);
    others.push_back(cotangents[i]);
    names.push_back({StrCat("cotangent of ", outputs_[i].name), {}});
  }
  ASSAY_RETURN_IF_ERROR(CheckGradients(infos, gradients, names, others));
  ASSAY_RETURN_IF_ERROR(CheckDevice(infos, gradients));
  ASSAY_RETURN_IF_ERROR(run->SetMemory(gradients));
  return std::unique_ptr<GradientBinding>(std::move(run));
}

Status EagerNetwork::RunBackward(GradientBinding& bound) {
  if (typeid(bound) == typeid(GradientRun)) {
    auto& run = static_cast<GradientRun&>(bound);
    if (run.IsOf(*plan_)) return run.Run();
  }
  return ForeignBinding();
}

std::vector<std::string> EagerNetwork::List() const {
  std::vector<std::string> names;
  for (const Initializer& initializer : graph_->initializers) {
    const auto id = static_cast<size_t>(initializer.id);
    if (is_parameter_[id]) names.push_back(graph_->values[id].name);
  }
  return names;
}

Result<size_t> EagerNetwork::FindParameter(std::string_view name) const {
  for (size_t i = 0; i < graph_->initializers.size(); ++i) {
    const auto id = static_cast<size_t>(graph_->initializers[i].id);
    if (is_parameter_[id] && graph_->values[id].name == name) return i;
  }
  return NotFound("'", name, "' is no parameter of the network");
}

Result<Tensor> EagerNetwork::Read(std::string_view name) const {
  ASSAY_ASSIGN_OR_RETURN(const size_t index, FindParameter(name));
  return program_.constants[index].tensor()->Clone();
}

Status EagerNetwork::Write(std::string_view name, const Tensor& value) {
  ASSAY_ASSIGN_OR_RETURN(const size_t index, FindParameter(name));
  const Tensor& held = *program_.constants[index].tensor();
  if (held.dtype() != value.dtype() || held.shape() != value.shape()) {
    return InvalidArgument("parameter '", name, "' is ", held.Signature(),
                           ", found ", value.Signature());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor own, Memory(name));
  std::ranges::copy(value.bytes(), own.mutable_data());
  return OkStatus();
}

Result<Tensor> EagerNetwork::Memory(std::string_view name) {
  ASSAY_ASSIGN_OR_RETURN(const size_t index, FindParameter(name));
  Value& held = program_.constants[index];
  // Until then it is the model's, which others have, too.
  if (own_.insert(index).second) {
    ASSAY_ASSIGN_OR_RETURN(held, held.tensor()->Clone());
  }
  return *held.tensor();
}

std::vector<PlacedNode> EagerNetwork::Placed() const {
  std::vector<PlacedNode> placed;
  for (const Step& step : program_.steps) {
    const std::string& executor = step.kernel.executor;
    placed.push_back({step.node->Label(),
                      executor.empty() ? executor_ : executor,
                      step.node->function});
  }
  return placed;
}

}  // namespace
}  // namespace assay::eager

namespace assay::inline v1 {

template class Visitor<Result<Kernel>, LoadContext>;

Result<Kernel> OperatorVisitor::VisitCustom(const Node& node, LoadContext&) {
  return Unsupported(Reason::kOperator, "operator ", node.domain, ".",
                     node.op_type, " is not offered");
}

Result<Kernel> OperatorVisitor::Decline(OperatorId id, LoadContext&) {
  // Most families decline most operators: the words are put together once.
  static const auto* const declined = [] {
    auto* all = new std::vector<Status>();
    for (const OperatorInfo& info : Operators()) {
      all->push_back(Unsupported(Reason::kOperator, "operator ", info.name,
                                 " is not offered"));
    }
    return all;
  }();
  return (*declined)[static_cast<size_t>(id)];
}

void EagerBackend::AddFamily(std::unique_ptr<OperatorVisitor> family) {
  families_.push_back(std::move(family));
}

Result<std::unique_ptr<Network>> EagerBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  const std::vector<std::string> known = Settings();
  for (const auto& [name, value] : options.settings) {
    if (std::ranges::find(known, name) == known.end()) {
      return InvalidArgument("backend '", this->name(), "' has no setting '",
                             name, "'");
    }
  }
  return eager::EagerNetwork::Load(model, MakeKernelSource(), this->name(),
                                   options);
}

Result<BackwardFunction> EagerBackend::MakeBackward(LoadContext& load) {
  return Unsupported(Reason::kGradient, load.node().Label(),
                     load.node().Subgraphs().empty()
                         ? ": the kernel has no backward"
                         : ": gradients through subgraphs are not offered");
}

Result<NodeNetwork> EagerBackend::LoadNode(const LoadContext& load,
                                           const LoadOptions& options) {
  eager::LoneNode alone = eager::CutNode(load.node(), load.scope());
  ASSAY_ASSIGN_OR_RETURN(
      std::shared_ptr<Network> network,
      eager::EagerNetwork::LoadGraph(
          std::make_shared<const Graph>(std::move(alone.graph)),
          MakeKernelSource(), this->name(), options));
  return NodeNetwork{std::move(network), std::move(alone.inputs),
                     std::move(alone.outputs)};
}

eager::KernelSource EagerBackend::MakeKernelSource() {
  return {families_, [this](const Node& node) { return MayExpand(node); },
          [this](Kernel kernel, const LoadContext& load) {
            return Around(std::move(kernel), load);
          },
          [this](LoadContext& load) { return MakeBackward(load); },
          [this](const LoadOptions& options) {
            return MakeDifferentiate(options);
          }};
}

}  // namespace assay::inline v1

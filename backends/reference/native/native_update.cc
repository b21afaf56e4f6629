// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/native/native_update.h"

#include <algorithm>
#include <span>
#include <utility>

#include "framework/core/text.h"
#include "framework/graph/model.h"

namespace assay::reference {
namespace {

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
class UpdateGraph {
 public:
  UpdateGraph(const Optimization& what, const Tensor& parameter) {
    graph_.name = "update";
    node_.op_type = what.op_type;
    node_.domain = kDomain;
    node_.opset = 1;
    node_.attributes = what.attributes;
    const ValueType of_parameter = ValueType::OfTensor(parameter);
    Read("r", ValueType::OfTensor(parameter.dtype(), std::vector<Dim>()));
    Read("t", ValueType::OfTensor(DType::kInt64, std::vector<Dim>()));
    Read("x", of_parameter);
    Read("g", of_parameter);
    Write("next_x", of_parameter);
    for (int64_t i = 0; i < what.slots; ++i) {
      Read(StrCat("s", i), of_parameter);
      Write(StrCat("next_s", i), of_parameter);
    }
  }

  std::shared_ptr<const Model> Finish() {
    graph_.nodes.push_back(std::move(node_));
    Model::Parts parts;
    parts.ir_version = 10;
    parts.opsets = {{kDomain, 1}};
    parts.graph = std::move(graph_);
    // It has no bytes for ONNX's checker, and every type.
    parts.checked = parts.inferred = true;
    return std::make_shared<const Model>(std::move(parts));
  }

 private:
  static constexpr const char* kDomain = "ai.onnx.preview.training";

  ValueId Add(std::string name, const ValueType& type) {
    graph_.values.push_back({std::move(name), type});
    return static_cast<ValueId>(graph_.values.size() - 1);
  }
  void Read(std::string name, const ValueType& type) {
    graph_.inputs.push_back(Add(std::move(name), type));
    node_.inputs.push_back(graph_.inputs.back());
  }
  void Write(std::string name, const ValueType& type) {
    graph_.outputs.push_back(Add(std::move(name), type));
    node_.outputs.push_back(graph_.outputs.back());
  }

  Graph graph_;
  Node node_;
};

}  // namespace

std::vector<std::string> OptimizationNames() {
  std::vector<std::string> names;
  for (const Form& form : Forms()) names.emplace_back(form.optimizer);
  return names;
}

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

Result<std::unique_ptr<NativeUpdate>> NativeUpdate::Load(
    Backend& backend, const Optimization& what, const Tensor& parameter) {
  std::unique_ptr<NativeUpdate> update(new NativeUpdate);
  ASSAY_ASSIGN_OR_RETURN(
      update->network_,
      backend.Load(UpdateGraph(what, parameter).Finish(), {}));
  const auto rate32 = static_cast<float>(what.rate);
  ASSAY_ASSIGN_OR_RETURN(update->rate_,
                         parameter.dtype() == DType::kFloat64
                             ? Tensor::Of<double>({}, std::span(&what.rate, 1))
                             : Tensor::Of<float>({}, std::span(&rate32, 1)));
  for (int64_t i = 0; i < what.slots; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        Tensor slot, Tensor::Allocate(parameter.dtype(), parameter.shape()));
    std::ranges::fill(std::span(slot.mutable_data(), slot.bytes().size()),
                      std::byte{0});
    update->state_.emplace_back(std::move(slot));
  }
  return update;
}

Result<Tensor> NativeUpdate::Step(const Tensor& parameter,
                                  const Tensor& gradient) {
  ASSAY_ASSIGN_OR_RETURN(Tensor count,
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

}  // namespace assay::reference

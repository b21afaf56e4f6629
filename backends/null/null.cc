// SPDX-License-Identifier: Apache-2.0
//
// The backend that computes nothing: it accepts every model whose outputs are
// tensors of a declared, static shape, and returns zeros. A run over it costs
// what the framework itself costs.

#include <assay/backend.h>

#include <algorithm>
#include <utility>

namespace assay::null {
namespace {

/// A model may claim any shape; beyond this its zeros are not worth making.
constexpr int64_t kMostElements = int64_t{1} << 26;

class NullBinding final : public Binding {
 public:
  NullBinding(const Network* network, std::vector<Value> outputs)
      : network(network), values(std::move(outputs)) {}
  std::span<const Value> outputs() const override { return values; }

  const Network* const network;
  std::vector<Value> values;
};

class NullNetwork final : public Network {
 public:
  NullNetwork(std::vector<ValueInfo> inputs, std::vector<ValueInfo> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(CheckBind(inputs_, outputs_, inputs, outputs));
    std::vector<Value> values(outputs.begin(), outputs.end());
    values.resize(outputs_.size());
    return std::unique_ptr<Binding>(
        std::make_unique<NullBinding>(this, std::move(values)));
  }

  Status Forward(Binding& binding) override {
    auto* const own = dynamic_cast<NullBinding*>(&binding);
    if (own == nullptr || own->network != this) {
      return InvalidArgument("the binding was made by another network");
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(Zero(outputs_[i].type, own->values[i]));
    }
    return OkStatus();
  }

 private:
  static Status Zero(const ValueType& type, Value& value) {
    if (!value.present()) {
      ASSAY_ASSIGN_OR_RETURN(value,
                             Tensor::Allocate(type.dtype, *type.StaticShape()));
      return OkStatus();
    }
    Tensor& tensor = *value.mutable_tensor();
    std::fill_n(tensor.mutable_data(), tensor.byte_size(), std::byte{});
    std::ranges::fill(tensor.mutable_strings(), std::string());
    return OkStatus();
  }

  std::vector<ValueInfo> inputs_;
  std::vector<ValueInfo> outputs_;
};

Status CheckOutput(const ValueInfo& output) {
  const std::optional<Shape> shape = output.type.StaticShape();
  if (output.type.kind != ValueKind::kTensor) {
    return Unsupported(Reason::kValueKind, "output '", output.name, "' is ",
                       output.type.ToString(), ", wanted a tensor");
  }
  if (!shape.has_value()) {
    return Unsupported(Reason::kShape, "output '", output.name, "' is ",
                       output.type.ToString(), ", wanted a static shape");
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape->NumElements());
  if (count > kMostElements) {
    return Unsupported(Reason::kShape, "output '", output.name, "' is ",
                       output.type.ToString(), ", which is too large");
  }
  return OkStatus();
}

class Null final : public Backend {
 public:
  std::string_view name() const override { return "null"; }
  Result<Probe> Inspect() override { return Probe{"1", "cpu"}; }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    if (!options.settings.empty()) {
      return InvalidArgument("backend 'null' has no setting '",
                             options.settings.begin()->first, "'");
    }
    if (!options.gradient_targets.empty()) {
      return Unsupported(Reason::kGradient, "nothing is differentiated");
    }
    const Graph& graph = model->graph();
    const auto info = [&](ValueId id) {
      return graph.values[static_cast<size_t>(id)];
    };
    std::vector<ValueInfo> inputs;
    for (const ValueId id : graph.inputs) {
      if (graph.FindInitializer(id) == nullptr) inputs.push_back(info(id));
    }
    std::vector<ValueInfo> outputs;
    for (const ValueId id : graph.outputs) outputs.push_back(info(id));
    for (const std::string& name : options.extra_outputs) {
      const ValueId id = graph.FindValue(name);
      if (id == kNoValue) {
        return NotFound("extra output '", name, "' is no value of the graph");
      }
      outputs.push_back(info(id));
    }
    for (const ValueInfo& output : outputs) {
      ASSAY_RETURN_IF_ERROR(CheckOutput(output));
    }
    return std::unique_ptr<Network>(
        std::make_unique<NullNetwork>(std::move(inputs), std::move(outputs)));
  }
};

ASSAY_REGISTER_BACKEND(Null);

}  // namespace
}  // namespace assay::null

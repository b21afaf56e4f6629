// SPDX-License-Identifier: Apache-2.0
//
// The backend of every forgery of times: it runs a network of one Neg of
// float32, whose calls are the act of the behaviour that the setting `act`
// names. It writes nothing by itself.

#include "ctest/trial/hostile/forged_times/negate.h"
#include "framework/backend/backend.h"
#include "framework/backend/registry.h"

namespace {

using assay::Binding;
using assay::LoadOptions;
using assay::Model;
using assay::Network;
using assay::Result;
using assay::Status;
using assay::Tensor;
using assay::Value;
using assay::ValueInfo;

class Bound final : public Binding {
 public:
  Bound(Tensor x, Tensor y, bool given)
      : x_(std::move(x)), y_(std::move(y)), given_(given), values_{y_} {}
  ~Bound() override {
    for (void (*const call)() : hostile::AtEnd()) call();
  }
  std::span<const Value> outputs() const override { return values_; }

  hostile::Output output() {
    return {reinterpret_cast<unsigned char*>(y_.mutable_data()),
            static_cast<size_t>(y_.byte_size()), given_,
            reinterpret_cast<unsigned char*>(x_.mutable_data())};
  }

 private:
  Tensor x_, y_;
  bool given_;
  std::vector<Value> values_;
};

class NegatingNetwork final : public Network {
 public:
  NegatingNetwork(const assay::Graph& graph, const hostile::Misdeed& act)
      : inputs_{graph[graph.inputs[0]]},
        outputs_{graph[graph.outputs[0]]},
        act_(act) {}
  std::span<const ValueInfo> inputs() const override { return inputs_; }
  std::span<const ValueInfo> outputs() const override { return outputs_; }
  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_RETURN_IF_ERROR(assay::CheckBind(inputs_, outputs_, inputs, outputs));
    const Tensor x = *inputs[0].tensor();
    const bool given = !outputs.empty() && outputs[0].present();
    if (given) return Made(x, *outputs[0].tensor(), given);
    ASSAY_ASSIGN_OR_RETURN(Tensor y, x.Clone());
    return Made(x, std::move(y), given);
  }
  Status Forward(Binding& binding) override {
    act_.commit(static_cast<Bound&>(binding).output());
    return assay::OkStatus();
  }

 private:
  static std::unique_ptr<Binding> Made(Tensor x, Tensor y, bool given) {
    return std::make_unique<Bound>(std::move(x), std::move(y), given);
  }

  std::vector<ValueInfo> inputs_, outputs_;
  const hostile::Misdeed& act_;
};

class NegatingBackend final : public assay::Backend {
 public:
  std::string_view name() const override { return hostile::NameOfModule(); }
  Result<assay::Probe> Inspect() override { return assay::Probe{"1", "cpu"}; }
  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    const assay::Graph& graph = model->graph();
    if (graph.nodes.size() != 1 || graph.nodes[0].op_type != "Neg" ||
        graph[graph.inputs[0]].type.dtype != assay::DType::kFloat32 ||
        !options.gradient_targets.empty()) {
      return assay::Unsupported(assay::Reason::kOperator,
                                "wanted one Neg of float32");
    }
    const auto act = options.settings.find("act");
    for (const hostile::Misdeed& each : hostile::Misdeeds()) {
      if (act != options.settings.end() && act->second == each.name) {
        return std::make_unique<NegatingNetwork>(graph, each);
      }
    }
    return assay::InvalidArgument("wanted the setting act, one behaviour of ",
                                  hostile::NameOfModule());
  }
};

ASSAY_REGISTER_BACKEND(NegatingBackend);

}  // namespace

// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/defect.h"

namespace assay::faulty {
namespace {

/// The context of a kernel while a defect stands between it and the graph:
/// outputs of its own, and inputs that may be others than the graph's.
class SideContext : public KernelContext {
 public:
  SideContext(KernelContext& run, const Values& inputs,
              const std::vector<bool>& wanted)
      : run_(run), wanted_(wanted), outputs_(wanted.size()) {
    for (const Value& input : inputs) inputs_.push_back(&input);
    SharePrepared(run);
  }

  Result<Tensor*> Output(assay::Output output, DType dtype,
                         const Shape& shape) override {
    Value* const place = Find(output);
    if (place == nullptr) return static_cast<Tensor*>(nullptr);
    ASSAY_ASSIGN_OR_RETURN(*place, Tensor::Allocate(dtype, shape));
    return place->mutable_tensor();
  }

  Status SetOutput(assay::Output output, Value value) override {
    if (Value* const place = Find(output)) *place = std::move(value);
    return OkStatus();
  }

  Result<std::vector<Value>> Run(std::string_view attribute,
                                 std::span<const Value> inputs) override {
    return run_.Run(attribute, inputs);
  }

  Result<std::vector<Value>> Differentiate(
      std::span<const Value> inputs) override {
    return run_.Differentiate(inputs);
  }

  void Save(Value value) override { run_.Save(std::move(value)); }

  Result<Tensor*> Workspace(DType dtype, const Shape& shape) override {
    return run_.Workspace(dtype, shape);
  }

  Values& outputs() { return outputs_; }

 private:
  Value* Find(assay::Output output) {
    const auto position = static_cast<size_t>(output.position);
    return position < wanted_.size() && wanted_[position] ? &outputs_[position]
                                                          : nullptr;
  }

  KernelContext& run_;
  const std::vector<bool>& wanted_;
  Values outputs_;
};

}  // namespace

Kernel Around(Kernel right, const Node& node, Feeding feed, Spoiling spoil) {
  std::vector<bool> wanted;
  for (const ValueId id : node.outputs) wanted.push_back(id != kNoValue);
  const auto run_right =
      [wanted, forward = std::move(right.forward), feed = std::move(feed),
       spoil = std::move(spoil)](KernelContext& run) -> Status {
    Values inputs;
    for (int i = 0; i < run.input_count(); ++i) {
      inputs.push_back(run.value({i, true}));
    }
    Values fed = inputs;
    if (feed) ASSAY_RETURN_IF_ERROR(feed(fed));
    SideContext side(run, fed, wanted);
    ASSAY_RETURN_IF_ERROR(forward(side));
    if (spoil) ASSAY_RETURN_IF_ERROR(spoil(inputs, side.outputs()));
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      ASSAY_RETURN_IF_ERROR(run.SetOutput({static_cast<int>(i), true},
                                          std::move(side.outputs()[i])));
    }
    return OkStatus();
  };
  right.forward = run_right;
  return right;
}

}  // namespace assay::faulty

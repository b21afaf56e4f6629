// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/gradient.h"

#include <algorithm>
#include <utility>

#include "framework/backend/eager/flow/flow.h"
#include "framework/backend/exception.h"

namespace assay::eager {
namespace {

/// Tells if a value passes derivatives on: by numbers that this runtime adds, by
/// other real or complex numbers, which it declines, or not at all.
enum class Passes : uint8_t { kNone, kAdded, kDeclined };

Passes PassesOf(const ValueType& type) {
  if (type.kind == ValueKind::kNone) return Passes::kDeclined;
  if (type.element != nullptr) {
    const Passes inner = PassesOf(*type.element);
    return inner == Passes::kNone ? Passes::kNone : Passes::kDeclined;
  }
  const DTypeClass numbers = ClassOf(type.dtype);
  if (numbers != DTypeClass::kFloat && numbers != DTypeClass::kComplex) {
    return Passes::kNone;
  }
  const bool added =
      type.kind == ValueKind::kTensor && flow::IsGradientType(type.dtype);
  return added ? Passes::kAdded : Passes::kDeclined;
}

/// The graph seen from the targets and from the outputs.
class Planner {
 public:
  Planner(Program& program, const LoadScope& scope, const LoadOptions& options,
          const MakeBackward& make_backward)
      : program_(program),
        graph_(*program.graph),
        scope_(scope),
        options_(options),
        make_backward_(make_backward) {
    for (const ValueType* type : scope.types)
      passes_.push_back(PassesOf(*type));
    from_target_.assign(passes_.size(), false);
    to_output_.assign(passes_.size(), false);
  }

  Result<GradientPlan> Plan(std::span<const std::string> targets) {
    ASSAY_RETURN_IF_ERROR(AddTargets(targets));
    for (const Step& step : program_.steps) {
      if (!Any(ReadsOf(*step.node), from_target_)) continue;
      Mark(step.node->outputs, from_target_);
    }
    Mark(program_.outputs, to_output_);
    for (size_t i = program_.steps.size(); i-- > 0;) {
      const Step& step = program_.steps[i];
      if (Any(step.node->outputs, to_output_)) {
        Mark(ReadsOf(*step.node), to_output_);
      }
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(AddStep(i));
    }
    for (const Passes passes : passes_) {
      plan_.carries.push_back(passes == Passes::kAdded);
    }
    return std::move(plan_);
  }

 private:
  bool Flows(ValueId id) const {
    return id != kNoValue && passes_[static_cast<size_t>(id)] != Passes::kNone;
  }

  void Mark(const std::vector<ValueId>& ids, std::vector<bool>& marks) const {
    for (const ValueId id : ids) {
      if (Flows(id)) marks[static_cast<size_t>(id)] = true;
    }
  }

  bool Any(const std::vector<ValueId>& ids,
           const std::vector<bool>& marks) const {
    return std::ranges::any_of(ids, [&](ValueId id) {
      return Flows(id) && marks[static_cast<size_t>(id)];
    });
  }

  Status AddTargets(std::span<const std::string> targets) {
    for (const std::string& name : targets) {
      const ValueId id = graph_.FindValue(name);
      if (id == kNoValue) {
        return NotFound("gradient target '", name,
                        "' is no value of the graph");
      }
      if (passes_[static_cast<size_t>(id)] != Passes::kAdded) {
        return Unsupported(Reason::kGradient, "gradient target '", name,
                           "' is ",
                           scope_.types[static_cast<size_t>(id)]->ToString(),
                           ", wanted a tensor of floats of 16 to 64 bits");
      }
      plan_.targets.emplace(name, id);
      from_target_[static_cast<size_t>(id)] = true;
    }
    return OkStatus();
  }

  bool OnPath(ValueId id) const {
    return Flows(id) && from_target_[static_cast<size_t>(id)] &&
           to_output_[static_cast<size_t>(id)];
  }

  Status CheckFlow(const std::vector<ValueId>& ids, const Node& node) const {
    for (const ValueId id : ids) {
      if (!OnPath(id)) continue;
      const auto at = static_cast<size_t>(id);
      if (passes_[at] == Passes::kAdded) continue;
      return Unsupported(
          Reason::kGradient, node.Label(), ": value '", graph_.values[at].name,
          "' is ", scope_.types[at]->ToString(),
          ", gradients pass tensors of floats of 16 to 64 bits only");
    }
    return OkStatus();
  }

  Status AddStep(size_t index) {
    Step& step = program_.steps[index];
    const Node& node = *step.node;
    std::vector<ValueId> reads = ReadsOf(node);
    const auto on_path = [this](ValueId id) { return OnPath(id); };
    if (std::ranges::none_of(reads, on_path) ||
        std::ranges::none_of(node.outputs, on_path)) {
      return OkStatus();
    }
    ASSAY_RETURN_IF_ERROR(CheckFlow(reads, node));
    ASSAY_RETURN_IF_ERROR(CheckFlow(node.outputs, node));
    if (step.part != nullptr) {
      return Unsupported(Reason::kGradient, node.Label(),
                         ": derivatives of derivatives are not offered");
    }
    if (!step.kernel.backward || !step.bodies.empty()) {
      ASSAY_ASSIGN_OR_RETURN(step.kernel.backward, BackwardOf(node));
    }
    step.saves = true;
    plan_.steps.push_back({index, std::move(reads)});
    return OkStatus();
  }

  Result<BackwardFunction> BackwardOf(const Node& node) const {
    LoadContext load(node, scope_, options_);
    Result<BackwardFunction> made = make_backward_(load);
    if (made.status().code() != StatusCode::kUnsupported) return made;
    return Unsupported(Reason::kGradient, made.status().message());
  }

  Program& program_;
  const Graph& graph_;
  const LoadScope& scope_;
  const LoadOptions& options_;
  const MakeBackward& make_backward_;
  std::vector<Passes> passes_;     // by ValueId
  std::vector<bool> from_target_;  // by ValueId
  std::vector<bool> to_output_;    // by ValueId
  GradientPlan plan_;
};

/// What flows into each value, and the values that matter to this call.
struct Flowing {
  std::vector<flow::Flow> flows;  // by ValueId
  std::vector<bool> wanted;       // by ValueId
};

class StepGradient final : public GradientContext {
 public:
  StepGradient(const GradientPlan& plan, const std::vector<ValueId>& reads,
               const Frame& frame, const StepContext& context,
               const Flowing& flowing)
      : plan_(plan),
        reads_(reads),
        frame_(frame),
        context_(context),
        flowing_(flowing) {
    gradients_.resize(reads.size());
    prepared_ = context.made();
  }

  const Tensor& input(Input input) const override {
    const Tensor* tensor = TensorAt(Id(reads_, input.position));
    return tensor == nullptr ? kNothing : *tensor;
  }
  const Value& value(Input input) const override {
    const ValueId id = Id(reads_, input.position);
    return id == kNoValue ? kAbsent : frame_.value(id);
  }
  const Tensor& output(Output output) const override {
    const Tensor* tensor = TensorAt(Id(node().outputs, output.position));
    return tensor == nullptr ? kNothing : *tensor;
  }
  const Value& saved(int index) const override {
    return context_.saved().at(static_cast<size_t>(index));
  }
  const Tensor* cotangent(Output output) const override {
    const ValueId id = Id(node().outputs, output.position);
    if (id == kNoValue) return nullptr;
    const flow::Flow& held = flowing_.flows[static_cast<size_t>(id)];
    return held.any() ? &held.sum() : nullptr;
  }
  bool wanted(Input input) const override {
    return Wanted(Id(reads_, input.position));
  }
  Result<Tensor*> Gradient(Input input) override;

  /// Adds what the kernel wrote to what flows into the node's inputs.
  Status Collect(Flowing& flowing) const;

 private:
  const Node& node() const { return *context_.step().node; }
  static ValueId Id(const std::vector<ValueId>& ids, int position) {
    const auto at = static_cast<size_t>(position);
    return at < ids.size() ? ids[at] : kNoValue;
  }
  const Tensor* TensorAt(ValueId id) const {
    return id == kNoValue ? nullptr : frame_.value(id).tensor();
  }
  bool Wanted(ValueId id) const {
    return id != kNoValue && plan_.carries[static_cast<size_t>(id)] &&
           flowing_.wanted[static_cast<size_t>(id)];
  }

  static const Tensor kNothing;
  static const Value kAbsent;
  const GradientPlan& plan_;
  const std::vector<ValueId>& reads_;
  const Frame& frame_;
  const StepContext& context_;
  const Flowing& flowing_;
  std::vector<Tensor> gradients_;  // by position
};

const Tensor StepGradient::kNothing;
const Value StepGradient::kAbsent;

Result<Tensor*> StepGradient::Gradient(Input input) {
  const ValueId id = Id(reads_, input.position);
  const Tensor* value = TensorAt(id);
  if (value == nullptr || !plan_.carries[static_cast<size_t>(id)]) {
    return InvalidArgument("input ", input.position, " has no gradient");
  }
  Tensor& gradient = gradients_[static_cast<size_t>(input.position)];
  if (!gradient.defined()) {
    ASSAY_ASSIGN_OR_RETURN(gradient,
                           Tensor::Allocate(value->dtype(), value->shape()));
  }
  return &gradient;
}

Status StepGradient::Collect(Flowing& flowing) const {
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ValueId id = reads_[i];
    if (!gradients_[i].defined() || !Wanted(id)) continue;
    ASSAY_RETURN_IF_ERROR(
        flowing.flows[static_cast<size_t>(id)].Add(gradients_[i]));
  }
  return OkStatus();
}

/// The values that depend on a named target.
Result<std::vector<bool>> MarkWanted(const GradientPlan& plan,
                                     const Program& program,
                                     std::span<const std::string> targets) {
  std::vector<bool> wanted(plan.carries.size(), false);
  for (const std::string& name : targets) {
    const auto target = plan.targets.find(name);
    if (target == plan.targets.end()) {
      return InvalidArgument("'", name,
                             "' is none of the network's gradient targets");
    }
    wanted[static_cast<size_t>(target->second)] = true;
  }
  const auto is_wanted = [&](ValueId id) {
    return id != kNoValue && wanted[static_cast<size_t>(id)];
  };
  for (const GradientPlan::Taken& taken : plan.steps) {
    if (std::ranges::none_of(taken.reads, is_wanted)) continue;
    for (const ValueId id : program.steps[taken.step].node->outputs) {
      if (id == kNoValue || !plan.carries[static_cast<size_t>(id)]) continue;
      wanted[static_cast<size_t>(id)] = true;
    }
  }
  return wanted;
}

/// Starts from the outputs' cotangents.
Status Seed(const GradientPlan& plan, const Frame& frame,
            std::span<const Value> cotangents, Flowing& flowing) {
  const Program& program = frame.program();
  if (cotangents.size() != program.outputs.size()) {
    return InvalidArgument("found ", cotangents.size(), " cotangents, wanted ",
                           program.outputs.size());
  }
  for (size_t i = 0; i < cotangents.size(); ++i) {
    if (!cotangents[i].present()) continue;
    const auto id = static_cast<size_t>(program.outputs[i]);
    const ValueType found = cotangents[i].Type();
    const ValueType wanted = frame.value(program.outputs[i]).Type();
    if (!plan.carries[id] || !(found == wanted)) {
      return InvalidArgument("the cotangent of output '",
                             program.graph->values[id].name, "' is ",
                             found.ToString(), ", wanted ",
                             plan.carries[id] ? wanted.ToString() : "none");
    }
    ASSAY_RETURN_IF_ERROR(flowing.flows[id].Add(*cotangents[i].tensor()));
  }
  return OkStatus();
}

Status RunStep(const GradientPlan& plan, const GradientPlan::Taken& taken,
               const Frame& frame, Flowing& flowing) {
  const StepContext& context = frame.context(taken.step);
  const Node& node = *context.step().node;
  const bool reached = std::ranges::any_of(node.outputs, [&](ValueId id) {
    return id != kNoValue && flowing.flows[static_cast<size_t>(id)].any();
  });
  const bool asked = std::ranges::any_of(taken.reads, [&](ValueId id) {
    return id != kNoValue && flowing.wanted[static_cast<size_t>(id)];
  });
  if (!reached || !asked) return OkStatus();
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    ASSAY_RETURN_IF_ERROR(flowing.flows[static_cast<size_t>(id)].Finish());
  }
  StepGradient gradient(plan, taken.reads, frame, context, flowing);
  try {
    ASSAY_RETURN_IF_ERROR(context.step().kernel.backward(gradient));
  } catch (...) {
    return backend::StatusOfException("backward");
  }
  return gradient.Collect(flowing);
}

/// The sum of what flowed into a value, in memory that nobody else holds.
Result<Tensor> Own(const Tensor& sum, const Value& value) {
  const Tensor& like = *value.tensor();
  if (!sum.defined()) return Tensor::Allocate(like.dtype(), like.shape());
  if (sum.unique()) return sum;
  return sum.Clone();
}

}  // namespace

std::vector<ValueId> ReadsOf(const Node& node) {
  std::vector<ValueId> ids = node.inputs;
  for (const Graph* body : node.Subgraphs()) {
    for (const Capture& capture : body->captures) ids.push_back(capture.outer);
  }
  return ids;
}

Result<GradientPlan> PlanGradient(Program& program, const LoadScope& scope,
                                  std::span<const std::string> targets,
                                  const LoadOptions& options,
                                  const MakeBackward& make_backward) {
  return Planner(program, scope, options, make_backward).Plan(targets);
}

Result<std::vector<Value>> RunBackward(const GradientPlan& plan,
                                       const Frame& frame,
                                       std::span<const Value> cotangents,
                                       std::span<const std::string> targets) {
  const Program& program = frame.program();
  Flowing flowing;
  flowing.flows.resize(plan.carries.size());
  ASSAY_ASSIGN_OR_RETURN(flowing.wanted, MarkWanted(plan, program, targets));
  ASSAY_RETURN_IF_ERROR(Seed(plan, frame, cotangents, flowing));
  for (size_t i = plan.steps.size(); i-- > 0;) {
    const GradientPlan::Taken& taken = plan.steps[i];
    const Status status = RunStep(plan, taken, frame, flowing);
    if (!status.ok()) {
      return status.WithContext(program.steps[taken.step].node->Label());
    }
  }
  std::vector<Value> gradients;
  for (const std::string& name : targets) {
    const ValueId id = plan.targets.at(name);
    flow::Flow& sum = flowing.flows[static_cast<size_t>(id)];
    ASSAY_RETURN_IF_ERROR(sum.Finish());
    ASSAY_ASSIGN_OR_RETURN(Tensor gradient, Own(sum.sum(), frame.value(id)));
    gradients.emplace_back(std::move(gradient));
  }
  return gradients;
}

}  // namespace assay::eager

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "framework/backend/eager/gradient.h"

namespace assay::inline v1 {
namespace {

/// Whether derivatives can flow along a value: through the numbers that this
/// runtime adds, through other real or complex numbers, which it declines, or
/// not at all.
enum class Flow : uint8_t { kNone, kAdded, kDeclined };

Flow FlowOf(const ValueType& type) {
  if (type.kind == ValueKind::kNone) return Flow::kDeclined;
  if (type.element != nullptr) {
    const Flow inner = FlowOf(*type.element);
    return inner == Flow::kNone ? Flow::kNone : Flow::kDeclined;
  }
  const DTypeClass numbers = ClassOf(type.dtype);
  if (numbers != DTypeClass::kFloat && numbers != DTypeClass::kComplex) {
    return Flow::kNone;
  }
  const bool added =
      type.kind == ValueKind::kTensor &&
      (type.dtype == DType::kFloat32 || type.dtype == DType::kFloat64);
  return added ? Flow::kAdded : Flow::kDeclined;
}

/// The graph seen from the targets and from the outputs.
class Planner {
 public:
  Planner(Program& program, const LoadScope& scope)
      : program_(program), graph_(*program.graph), scope_(scope) {
    for (const ValueType* type : scope.types) flows_.push_back(FlowOf(*type));
    from_target_.assign(flows_.size(), false);
    to_output_.assign(flows_.size(), false);
  }

  Result<GradientPlan> Plan(std::span<const std::string> targets) {
    ASSAY_RETURN_IF_ERROR(AddTargets(targets));
    for (const Step& step : program_.steps) {
      if (!Any(Reads(step), from_target_)) continue;
      Mark(step.node->outputs, from_target_);
    }
    Mark(program_.outputs, to_output_);
    for (size_t i = program_.steps.size(); i-- > 0;) {
      const Step& step = program_.steps[i];
      if (Any(step.node->outputs, to_output_)) Mark(Reads(step), to_output_);
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(AddStep(i));
    }
    for (const Flow flow : flows_) {
      plan_.carries.push_back(flow == Flow::kAdded);
    }
    return std::move(plan_);
  }

 private:
  bool Flows(ValueId id) const {
    return id != kNoValue && flows_[static_cast<size_t>(id)] != Flow::kNone;
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

  /// What a step reads: its inputs, and what its subgraphs capture.
  std::vector<ValueId> Reads(const Step& step) const {
    std::vector<ValueId> ids = step.node->inputs;
    for (const Body& body : step.bodies) {
      for (const Capture& capture : body.program->graph->captures) {
        ids.push_back(capture.outer);
      }
    }
    return ids;
  }

  Status AddTargets(std::span<const std::string> targets) {
    for (const std::string& name : targets) {
      const ValueId id = graph_.FindValue(name);
      if (id == kNoValue) {
        return NotFound("gradient target '", name,
                        "' is no value of the graph");
      }
      if (flows_[static_cast<size_t>(id)] != Flow::kAdded) {
        return Unsupported(Reason::kGradient, "gradient target '", name,
                           "' is ",
                           scope_.types[static_cast<size_t>(id)]->ToString(),
                           ", wanted a tensor of float32 or float64");
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
      if (flows_[at] == Flow::kAdded) continue;
      return Unsupported(Reason::kGradient, node.Label(), ": value '",
                         graph_.values[at].name, "' is ",
                         scope_.types[at]->ToString(),
                         ", gradients pass float32 and float64 tensors only");
    }
    return OkStatus();
  }

  Status AddStep(size_t index) {
    Step& step = program_.steps[index];
    const Node& node = *step.node;
    const std::vector<ValueId> reads = Reads(step);
    const auto on_path = [this](ValueId id) { return OnPath(id); };
    if (std::ranges::none_of(reads, on_path) ||
        std::ranges::none_of(node.outputs, on_path)) {
      return OkStatus();
    }
    ASSAY_RETURN_IF_ERROR(CheckFlow(reads, node));
    ASSAY_RETURN_IF_ERROR(CheckFlow(node.outputs, node));
    if (!step.kernel.backward || !step.bodies.empty()) {
      return Unsupported(Reason::kGradient, node.Label(),
                         step.bodies.empty()
                             ? ": the kernel has no backward"
                             : ": gradients through subgraphs are not offered");
    }
    step.saves = true;
    plan_.steps.push_back(index);
    return OkStatus();
  }

  Program& program_;
  const Graph& graph_;
  const LoadScope& scope_;
  std::vector<Flow> flows_;        // by ValueId
  std::vector<bool> from_target_;  // by ValueId
  std::vector<bool> to_output_;    // by ValueId
  GradientPlan plan_;
};

}  // namespace

Result<GradientPlan> PlanGradient(Program& program, const LoadScope& scope,
                                  std::span<const std::string> targets) {
  return Planner(program, scope).Plan(targets);
}

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/gradient.h"

#include <algorithm>
#include <utility>

#include "framework/backend/eager/flow/flow.h"

namespace assay::eager {
namespace {

/// Tells if a value passes derivatives on: by numbers that this runtime adds,
/// by other real or complex numbers, which it declines, or not at all.
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

}  // namespace assay::eager

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/graph_rule/graph_optimizer.h"

#include <algorithm>
#include <map>
#include <string>

#include "framework/train/graph_rule/graph_rules.h"

namespace assay::train {
namespace {

bool IsEmpty(const Tensor& tensor) { return tensor.num_elements() == 0; }

}  // namespace

bool GraphOptimizer::Bound::IsOf(const Tensor& other,
                                 const Slots& others) const {
  return parameter.data() == other.data() &&
         std::ranges::equal(slots, others, {}, &Tensor::data, &Tensor::data);
}

Result<GraphOptimizer::Bound> GraphOptimizer::Bind(const Slots& slots,
                                                   const Tensor& parameter) {
  Bound bound{parameter, {}, slots, nullptr, nullptr, nullptr};
  ASSAY_ASSIGN_OR_RETURN(
      bound.gradient, Tensor::Allocate(parameter.dtype(), parameter.shape()));
  std::map<std::string, Tensor> memory = {{"x", parameter},
                                          {"g", bound.gradient}};
  for (size_t i = 0; i < slots.size(); ++i) {
    memory[rule_.slots[i].name] = slots[i];
  }
  const auto tied = [&](const std::vector<std::string>& names) {
    std::vector<Tie> ties;
    for (const std::string& name : names) ties.push_back({name, memory[name]});
    return ties;
  };
  const Operands update = OperandsOfUpdate(rule_);
  ASSAY_ASSIGN_OR_RETURN(
      bound.update, BoundGraph::Of(backend_, rule_.update, tied(update.read),
                                   tied(update.written)));
  const Operands move = OperandsOfMove(rule_);
  if (rule_.prepare.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(
        bound.prepare, BoundGraph::Of(backend_, *rule_.prepare, tied(move.read),
                                      tied(move.written)));
  }
  if (rule_.restore.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(
        bound.restore, BoundGraph::Of(backend_, *rule_.restore, tied(move.read),
                                      tied(move.written)));
  }
  return bound;
}

Result<GraphOptimizer::Bound*> GraphOptimizer::BoundOf(
    const Slots& slots, const Tensor& parameter) {
  const auto found = std::ranges::find_if(
      bound_, [&](const Bound& bound) { return bound.IsOf(parameter, slots); });
  if (found != bound_.end()) return &*found;
  auto made = Bind(slots, parameter);
  if (!made.ok()) return made.status().WithContext("the graph of the rule");
  return &bound_.emplace_back(*std::move(made));
}

Status GraphOptimizer::PrepareParameter(const Progress& at, Slots& slots,
                                        Tensor* parameter) {
  if (IsEmpty(*parameter)) return OkStatus();
  // Binds what the step needs while it may still be declined.
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
  return bound->prepare == nullptr ? OkStatus() : bound->prepare->Run(at);
}

Status GraphOptimizer::RestoreParameter(const Progress& at, Slots& slots,
                                        Tensor* parameter) {
  if (IsEmpty(*parameter)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
  return bound->restore == nullptr ? OkStatus() : bound->restore->Run(at);
}

Status GraphOptimizer::UpdateRule(const Progress& at, const Tensor& gradient,
                                  Slots& slots, Tensor* parameter) {
  if (IsEmpty(*parameter)) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
  std::ranges::copy(gradient.bytes(), bound->gradient.mutable_data());
  return bound->update->Run(at);
}

Result<Made> MakeGraphOptimizer(const Wanted& wanted, Backend& backend,
                                Recipe recipe) {
  ASSAY_ASSIGN_OR_RETURN(ReadRule read, GraphRuleOf(wanted, std::move(recipe)));
  return Made{std::make_unique<GraphOptimizer>(std::move(read.recipe),
                                               std::move(read.rule), backend),
              std::move(read.settings)};
}

}  // namespace assay::train

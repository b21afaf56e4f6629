// SPDX-License-Identifier: Apache-2.0

#include "backends/faulty/gradient_defect.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include "framework/backend/forwarding_network.h"

namespace assay::faulty {
namespace {

/// A right binding, and what it was made of.
class KnownBinding : public Binding {
 public:
  KnownBinding(std::unique_ptr<Binding> right, std::span<const Value> inputs)
      : right_(std::move(right)), inputs_(inputs.begin(), inputs.end()) {}

  std::span<const Value> outputs() const override { return right_->outputs(); }
  Binding& right() { return *right_; }
  const Values& inputs() const { return inputs_; }

 private:
  std::unique_ptr<Binding> right_;
  Values inputs_;
};

/// Right forwards; what is wrong with gradients its subclasses say.
class RightForward : public ForwardingNetwork, public Differentiable {
 public:
  using ForwardingNetwork::ForwardingNetwork;

  Result<std::unique_ptr<Binding>> Bind(
      std::span<const Value> inputs, std::span<const Value> outputs) override {
    ASSAY_ASSIGN_OR_RETURN(auto binding, inner().Bind(inputs, outputs));
    return std::unique_ptr<Binding>(
        std::make_unique<KnownBinding>(std::move(binding), inputs));
  }

  Status Forward(Binding& binding) override {
    return inner().Forward(static_cast<KnownBinding&>(binding).right());
  }

  Differentiable* differentiable() override { return this; }
  // A step of the inner network would want its own bindings.
  NativeStep* native_step() override { return nullptr; }
};

Result<Values> Clones(const Values& values) {
  Values clones = values;
  for (Value& value : clones) {
    if (value.tensor() == nullptr) continue;
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, value.tensor()->Clone());
    value = std::move(copy);
  }
  return clones;
}

/// The gradients of `network` at `inputs`, in a binding of their own.
Result<std::vector<Value>> GradientsAt(Network& network, const Values& inputs,
                                       std::span<const Value> cotangents,
                                       std::span<const std::string> targets) {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network.Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(network.Forward(*binding));
  return network.differentiable()->Backward(*binding, cotangents, targets);
}

class SpoiledGradient : public RightForward {
 public:
  SpoiledGradient(std::unique_ptr<Network> right, const GradientRule& rule,
                  std::set<std::string> spoiled, size_t n_targets)
      : RightForward(std::move(right)),
        rule_(rule),
        spoiled_(std::move(spoiled)),
        n_targets_(n_targets) {}

  Status Forward(Binding& binding) override {
    ASSAY_RETURN_IF_ERROR(RightForward::Forward(binding));
    ASSAY_ASSIGN_OR_RETURN(
        Values inputs, Clones(static_cast<KnownBinding&>(binding).inputs()));
    if (first_.empty()) first_ = inputs;
    before_ = std::exchange(latest_, std::move(inputs));
    return OkStatus();
  }

  Status RunBackward(GradientBinding& bound) override {
    bound_run_ = ++bound_runs_;
    const Status ran = RightForward::RunBackward(bound);
    bound_run_ = 0;
    return ran;
  }

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    auto& known = static_cast<KnownBinding&>(binding);
    ++runs_;
    ASSAY_ASSIGN_OR_RETURN(
        std::vector<Value> gradients,
        inner().differentiable()->Backward(known.right(), cotangents, targets));
    const Values given(cotangents.begin(), cotangents.end());
    for (size_t i = 0; i < targets.size(); ++i) {
      if (!spoiled_.contains(targets[i])) continue;
      const Tensor right = *gradients[i].tensor();
      if (right.num_elements() == 0) continue;
      ASSAY_ASSIGN_OR_RETURN(
          gradients[i],
          Spoil(known, given, targets[i], right, targets.size() < n_targets_));
    }
    return gradients;
  }

 private:
  Result<Tensor> Spoil(KnownBinding& binding, const Values& cotangents,
                       const std::string& target, const Tensor& right,
                       bool alone) {
    const std::vector<std::string> one = {target};
    const auto declared = inner().inputs();
    const auto at = std::ranges::find(declared, target, &ValueInfo::name);
    const Values outputs(binding.outputs().begin(), binding.outputs().end());
    const auto only =
        [](Result<std::vector<Value>> gradients) -> Result<Tensor> {
      ASSAY_RETURN_IF_ERROR(gradients.status());
      return *(*gradients)[0].tensor();
    };
    return rule_.spoil(
        {.right = right,
         .inputs = binding.inputs(),
         .outputs = outputs,
         .cotangents = cotangents,
         .target = static_cast<size_t>(at - declared.begin()),
         .alone = alone,
         .run = runs_,
         .bound_run = bound_run_,
         .first = first_,
         .latest = latest_,
         .before = before_,
         .with =
             [&](const Values& others) {
               return only(inner().differentiable()->Backward(binding.right(),
                                                              others, one));
             },
         .at =
             [&](const Values& others) {
               return only(GradientsAt(inner(), others, cotangents, one));
             }});
  }

  const GradientRule& rule_;
  const std::set<std::string> spoiled_;  // targets
  const size_t n_targets_;
  Values first_, latest_, before_;
  int64_t runs_ = 0, bound_runs_ = 0, bound_run_ = 0;
};

class StrangeGradients : public RightForward {
 public:
  StrangeGradients(std::unique_ptr<Network> right,
                   std::unique_ptr<Network> wrong)
      : RightForward(std::move(right)), wrong_(std::move(wrong)) {}

  Result<std::vector<Value>> Backward(
      Binding& binding, std::span<const Value> cotangents,
      std::span<const std::string> targets) override {
    return GradientsAt(*wrong_, static_cast<KnownBinding&>(binding).inputs(),
                       cotangents, targets);
  }

 private:
  std::unique_ptr<Network> wrong_;
};

/// The gradient targets that the operator reads at that place.
std::set<std::string> TargetsAt(const Graph& graph, const LoadOptions& options,
                                const GradientMutant& what) {
  std::set<std::string> targets;
  const auto place = static_cast<size_t>(what.input);
  for (const Node& node : graph.nodes) {
    if (node.op_type != what.op_type || place >= node.inputs.size()) continue;
    const ValueId id = node.inputs[place];
    if (std::ranges::find(graph.inputs, id) == graph.inputs.end()) continue;
    const std::string& name = graph[id].name;
    if (std::ranges::find(options.gradient_targets, name) !=
        options.gradient_targets.end()) {
      targets.insert(name);
    }
  }
  return targets;
}

}  // namespace

const GradientRule* FindGradientRule(std::string_view name,
                                     std::string_view op_type) {
  static const std::vector<GradientRule> rules = [] {
    using Table = std::vector<GradientRule> (*)();
    constexpr Table kTables[] = {ElementGradientRules, ReadingGradientRules,
                                 FormulaGradientRules};
    std::vector<GradientRule> all;
    for (const Table table : kTables)
      std::ranges::move(table(), std::back_inserter(all));
    return all;
  }();
  const auto found = std::ranges::find_if(rules, [&](const GradientRule& rule) {
    return rule.name == name &&
           (rule.op_type.empty() || rule.op_type == op_type);
  });
  return found == rules.end() ? nullptr : &*found;
}

std::optional<GradientMutant> ParseGradientMutant(std::string_view mutant) {
  constexpr std::string_view kRule = "gradient:";
  constexpr std::string_view kAs = "as:";
  if (!mutant.starts_with(kRule)) return std::nullopt;
  mutant.remove_prefix(kRule.size());
  GradientMutant what;
  if (mutant.starts_with(kAs)) {
    what.mutant = mutant.substr(kAs.size());
    return what;
  }
  const size_t colon = mutant.find(':');
  const size_t dot = mutant.rfind('.');
  if (colon == mutant.npos || dot == mutant.npos || dot < colon) {
    return std::nullopt;
  }
  what.rule = mutant.substr(0, colon);
  what.op_type = mutant.substr(colon + 1, dot - colon - 1);
  const char* const end = mutant.data() + mutant.size();
  const auto read = std::from_chars(mutant.data() + dot + 1, end, what.input);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return what;
}

Result<std::unique_ptr<Network>> WithSpoiledGradient(
    std::unique_ptr<Network> right, const Model& model,
    const LoadOptions& options, const GradientMutant& what) {
  const GradientRule* const rule = FindGradientRule(what.rule, what.op_type);
  if (rule == nullptr) {
    return InvalidArgument("found no rule '", what.rule, "' for gradients of ",
                           what.op_type,
                           ", wanted one of a table of faulty/gradients");
  }
  std::set<std::string> spoiled = TargetsAt(model.graph(), options, what);
  if (spoiled.empty() || right->differentiable() == nullptr) return right;
  return std::unique_ptr<Network>(std::make_unique<SpoiledGradient>(
      std::move(right), *rule, std::move(spoiled),
      options.gradient_targets.size()));
}

std::unique_ptr<Network> WithGradientsOf(std::unique_ptr<Network> right,
                                         std::unique_ptr<Network> wrong) {
  if (right->differentiable() == nullptr ||
      wrong->differentiable() == nullptr) {
    return right;
  }
  return std::make_unique<StrangeGradients>(std::move(right), std::move(wrong));
}

}  // namespace assay::faulty

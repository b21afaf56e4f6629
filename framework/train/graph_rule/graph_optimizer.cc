// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/tensor.h"
#include "framework/train/graph_rule/graph_rules.h"
#include "framework/train/optimizer/in_place.h"
#include "framework/train/optimizer/optimizer.h"

namespace assay::train {
namespace {

/// A tensor that nodes call so; it shares its memory.
struct Tie {
  std::string name;
  Tensor memory;
};

std::vector<std::string> NamesOf(const std::vector<Tie>& ties) {
  std::vector<std::string> names;
  for (const Tie& tie : ties) names.push_back(tie.name);
  return names;
}

/// The nodes of a rule on a backend, tied to the memory of one parameter, ready
/// for any number of steps. It owns its network; the backend must live as long.
class BoundGraph {
 public:
  /// `read` are inputs, and `written` some of them; all are of one type and
  /// shape. Unsupported, with the backend's own words, where it declines the
  /// nodes.
  static Result<std::unique_ptr<BoundGraph>> Of(Backend& backend,
                                                const RuleGraph& graph,
                                                const std::vector<Tie>& read,
                                                std::vector<Tie> written) {
    const Tensor& like = read.front().memory;
    ASSAY_ASSIGN_OR_RETURN(const auto model,
                           ModelOf(graph, {NamesOf(read), NamesOf(written)},
                                   like.dtype(), like.shape()));
    std::unique_ptr<BoundGraph> bound(new BoundGraph);
    ASSAY_ASSIGN_OR_RETURN(bound->network_, backend.Load(model, {}));
    if (bound->network_ == nullptr) {
      return Internal("the backend loaded nothing");
    }
    std::vector<Value> inputs;
    for (const Tie& tie : read) inputs.emplace_back(tie.memory);
    for (size_t i = 0; i < graph.factors.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(
          Tensor number,
          Tensor::Allocate(like.dtype(), ShapeOfFactors(like.shape())));
      inputs.emplace_back(bound->numbers_.emplace_back(std::move(number)));
    }
    std::vector<Value> outputs;
    for (size_t i = 0; i < written.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Tensor next,
                             Tensor::Allocate(like.dtype(), like.shape()));
      outputs.emplace_back(bound->next_.emplace_back(std::move(next)));
    }
    ASSAY_ASSIGN_OR_RETURN(bound->binding_,
                           bound->network_->Bind(inputs, outputs));
    if (bound->binding_ == nullptr) {
      return Internal("the backend bound nothing");
    }
    bound->factors_ = graph.factors;
    bound->written_ = std::move(written);
    return bound;
  }

  /// Runs the nodes and takes over what they give: the backend writes into
  /// memory of its own, and all that is written is copied behind the run.
  Status Run(const Progress& at) {
    ASSAY_RETURN_IF_ERROR(SetFactors(at));
    ASSAY_RETURN_IF_ERROR(network_->Forward(*binding_));
    ASSAY_RETURN_IF_ERROR(network_->Synchronize());
    for (size_t i = 0; i < written_.size(); ++i) {
      std::ranges::copy(next_[i].bytes(), written_[i].memory.mutable_data());
    }
    return OkStatus();
  }

 private:
  BoundGraph() = default;

  Status SetFactors(const Progress& at) {
    for (size_t i = 0; i < factors_.size(); ++i) {
      const double number = factors_[i].at(at);
      ASSAY_RETURN_IF_ERROR(InPlace(&numbers_[i], numbers_[i], {},
                                    [&]<class T>(const Elements<T>& each) {
                                      each.x[0] = static_cast<T>(number);
                                    }));
    }
    return OkStatus();
  }

  std::vector<Factor> factors_;
  std::vector<Tensor> numbers_;  // of the factors
  std::vector<Tie> written_;
  std::vector<Tensor> next_;  // of each that is written
  std::unique_ptr<Network> network_;
  std::unique_ptr<Binding> binding_;
};

bool IsEmpty(const Tensor& tensor) { return tensor.num_elements() == 0; }

class GraphOptimizer : public ThreeStepOptimizer {
 public:
  GraphOptimizer(Recipe recipe, GraphRule rule, Backend& backend)
      : ThreeStepOptimizer(std::move(recipe)),
        rule_(std::move(rule)),
        backend_(backend) {}

 protected:
  std::vector<Slot> StateOfEach() const override { return rule_.slots; }

  /// Unsupported where the backend declines a graph.
  Status PrepareParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override {
    if (IsEmpty(*parameter)) return OkStatus();
    // Binds what the step needs while it may still be declined.
    ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
    return bound->prepare == nullptr ? OkStatus() : bound->prepare->Run(at);
  }

  Status RestoreParameter(const Progress& at, Slots& slots,
                          Tensor* parameter) override {
    if (IsEmpty(*parameter)) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
    return bound->restore == nullptr ? OkStatus() : bound->restore->Run(at);
  }

  Status UpdateRule(const Progress& at, const Tensor& gradient, Slots& slots,
                    Tensor* parameter) override {
    if (IsEmpty(*parameter)) return OkStatus();
    ASSAY_ASSIGN_OR_RETURN(Bound* const bound, BoundOf(slots, *parameter));
    std::ranges::copy(gradient.bytes(), bound->gradient.mutable_data());
    return bound->update->Run(at);
  }

 private:
  /// The graphs of one parameter, and the memory that they are tied to.
  struct Bound {
    Tensor parameter, gradient;
    Slots slots;
    std::unique_ptr<BoundGraph> prepare, restore, update;

    bool IsOf(const Tensor& other, const Slots& others) const {
      return parameter.data() == other.data() &&
             std::ranges::equal(slots, others, {}, &Tensor::data,
                                &Tensor::data);
    }
  };

  Result<Bound> Bind(const Slots& slots, const Tensor& parameter) {
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
      for (const std::string& name : names)
        ties.push_back({name, memory[name]});
      return ties;
    };
    const auto bind = [&](const RuleGraph& graph, const Operands& operands) {
      return BoundGraph::Of(backend_, graph, tied(operands.read),
                            tied(operands.written));
    };
    ASSAY_ASSIGN_OR_RETURN(bound.update,
                           bind(rule_.update, OperandsOfUpdate(rule_)));
    const Operands move = OperandsOfMove(rule_);
    if (rule_.prepare.has_value()) {
      ASSAY_ASSIGN_OR_RETURN(bound.prepare, bind(*rule_.prepare, move));
    }
    if (rule_.restore.has_value()) {
      ASSAY_ASSIGN_OR_RETURN(bound.restore, bind(*rule_.restore, move));
    }
    return bound;
  }

  Result<Bound*> BoundOf(const Slots& slots, const Tensor& parameter) {
    const auto found = std::ranges::find_if(bound_, [&](const Bound& bound) {
      return bound.IsOf(parameter, slots);
    });
    if (found != bound_.end()) return &*found;
    auto made = Bind(slots, parameter);
    if (!made.ok()) return made.status().WithContext("the graph of the rule");
    return &bound_.emplace_back(*std::move(made));
  }

  GraphRule rule_;
  Backend& backend_;
  std::vector<Bound> bound_;
};

}  // namespace

Result<Made> MakeGraphOptimizer(const Wanted& wanted, Backend& backend,
                                Recipe recipe) {
  ASSAY_ASSIGN_OR_RETURN(ReadRule read, GraphRuleOf(wanted, std::move(recipe)));
  return Made{std::make_unique<GraphOptimizer>(std::move(read.recipe),
                                               std::move(read.rule), backend),
              std::move(read.settings)};
}

}  // namespace assay::train

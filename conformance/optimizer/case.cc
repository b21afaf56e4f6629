// SPDX-License-Identifier: Apache-2.0

#include "conformance/optimizer/case.h"

#include <algorithm>
#include <set>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/train/graph_rule/graph_rules.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/rule/optimizers.h"

namespace assay::optimizer {
namespace {

constexpr std::string_view kSuite = "optimizer/";
constexpr char kDomain[] = "ai.onnx";

/// The steps of a case: so many that a wrong decay of state, rate or correction
/// shows, and so few that a run takes seconds.
constexpr int64_t kLinear = 1000, kDeep = 100;

bool IsLinear(std::string_view network) {
  return network == "quadratic" || network == "logistic";
}

/// Our own rule is run by the preset of the paper alone, which each optimizer
/// has: what a preset changes is arithmetic of ours, not the backend's, and is
/// judged in framework/train/quad/rules_test.cc.
bool IsRunByOurRule(const train::Preset& preset) {
  return preset.name == "paper";
}

/// A preset that NativeStep can be asked for. The optimizer and its numbers
/// have the names of framework/train/rule; conventions are ONNX's.
bool HasNativeStep(const train::Preset& preset) {
  return preset.name == "onnx";
}

/// The operator of ONNX that an optimizer's own step is.
std::string_view NativeOperator(std::string_view optimizer) {
  if (optimizer.starts_with("adam")) return "Adam";
  return optimizer == "adagrad" ? "Adagrad" : "Momentum";
}

/// The operators that compute the update, where the backend does: a claim of
/// the network's alone does not speak of them.
std::vector<std::string> OperatorsOfRule(const StepCase& step_case) {
  std::vector<std::string> operators;
  if (step_case.tier == Tier::kNative) {
    operators.push_back(StrCat("ai.onnx.preview.training::",
                               NativeOperator(step_case.optimizer)));
  }
  if (step_case.tier != Tier::kGraph) return operators;
  const auto rule = train::GraphRuleOf({step_case.optimizer, step_case.preset});
  const auto op_types = train::OperatorsOf(rule.value().rule);
  for (const std::string& op_type : op_types.value()) {
    operators.push_back(StrCat(kDomain, "::", op_type));
  }
  return operators;
}

/// The operators of a network and of a rule, and the ranks of what they read
/// and write.
void AddFacts(const StepCase& step_case, cases::TestCase* c) {
  const auto network =
      optdiff::MakeNetwork(step_case.network, step_case.type,
                           draw::Draw(step_case.network, 0, "facts"));
  const Graph& graph = network->model->graph();
  std::set<std::string> types = {std::string(ToString(step_case.type))};
  c->operators = OperatorsOfRule(step_case);
  for (const Node& node : graph.nodes) {
    c->operators.push_back(StrCat(kDomain, "::", node.op_type));
  }
  for (const std::string& name : c->operators) {
    c->ranks[name] = {cases::kNoRank};
  }
  for (const Tensor& tensor : network->batches[0]) {
    types.emplace(ToString(tensor.dtype()));
    if (!c->shape_sig.empty()) c->shape_sig += ";";
    c->shape_sig += tensor.shape().ToString();
  }
  std::ranges::sort(c->operators);
  const auto twice = std::ranges::unique(c->operators);
  c->operators.erase(twice.begin(), twice.end());
  c->dtypes.assign(types.begin(), types.end());
}

cases::TestCase Planned(const StepCase& step_case) {
  cases::TestCase c;
  c.test_id = step_case.test_id();
  c.corpus = c.suite = "optimizer";
  c.kind = "model";
  c.op = step_case.optimizer;
  c.domain = kDomain;
  c.opset = NewestOpset("");
  c.imports = {{c.domain, c.opset}};
  c.value_kinds = {"tensor"};
  c.limit = {record::Comparator::kTolerance, 0, 0, "roundings of a step"};
  c.claim = cases::ClaimKind::kGradient;
  c.drawn = true;
  AddFacts(step_case, &c);
  return c;
}

}  // namespace

std::string_view ToString(Mode mode) {
  return mode == Mode::kLocked ? "locked" : "free";
}

std::string_view ToString(Tier tier) {
  constexpr std::string_view kWords[] = {"rule", "graph", "native"};
  return kWords[static_cast<size_t>(tier)];
}

std::string StepCase::test_id() const {
  return StrCat(
      kSuite, optimizer, "/", preset, ".", network, "#", ToString(mode),
      tier == Tier::kRule ? "" : StrCat("-", ToString(tier)), ".", type);
}

int64_t StepCase::steps() const {
  const bool is_long =
      IsLinear(network) && mode == Mode::kLocked && tier == Tier::kRule;
  return is_long ? kLinear : kDeep;
}

Result<StepCase> CaseOf(const record::PlanRow& row,
                        const record::RunFacts& facts) {
  const Status none(StatusCode::kNotFound, Reason::kReader,
                    "no case of an optimizer has that name");
  std::string_view rest = row.test_id;
  if (!rest.starts_with(kSuite)) return none;
  rest.remove_prefix(kSuite.size());
  StepCase found;
  found.optimizer = CutFront(&rest, "/");
  found.preset = CutFront(&rest, ".");
  found.network = CutFront(&rest, "#");
  std::string_view how = CutFront(&rest, ".");
  const std::string_view mode = CutFront(&how, "-");
  const auto type = ParseDType(rest);
  if (!type.has_value()) return none;
  found.type = *type;
  for (const Tier tier : {Tier::kGraph, Tier::kNative}) {
    if (how == ToString(tier)) found.tier = tier;
  }
  found.mode = mode == ToString(Mode::kFree) ? Mode::kFree : Mode::kLocked;
  if (found.test_id() != row.test_id) return none;
  found.seed = facts.seed;
  return found;
}

std::vector<StepCase> AllStepCases() {
  std::vector<StepCase> all;
  for (const train::Preset& preset : train::Presets()) {
    const auto add = [&](std::string_view network, Mode mode, DType type,
                         Tier tier = Tier::kRule) {
      all.push_back({std::string(preset.optimizer), std::string(preset.name),
                     std::string(network), mode, type, tier});
    };
    if (IsRunByOurRule(preset)) {
      for (const DType type : {DType::kFloat32, DType::kFloat64}) {
        add("quadratic", Mode::kLocked, type);
        add("logistic", Mode::kLocked, type);
      }
      add("mlp", Mode::kLocked, DType::kFloat32);
      add("mlp", Mode::kFree, DType::kFloat32);
      add("cnn", Mode::kLocked, DType::kFloat32);
    }
    for (const DType type : {DType::kFloat32, DType::kFloat64}) {
      if (train::HasGraphRule(preset.optimizer)) {
        add("quadratic", Mode::kLocked, type, Tier::kGraph);
      }
      if (HasNativeStep(preset)) {
        add("quadratic", Mode::kLocked, type, Tier::kNative);
      }
    }
  }
  return all;
}

std::vector<cases::TestCase> PlannedCases(std::span<const cases::Corpus>) {
  std::vector<cases::TestCase> planned;
  for (const StepCase& step_case : AllStepCases()) {
    planned.push_back(Planned(step_case));
  }
  return planned;
}

}  // namespace assay::optimizer

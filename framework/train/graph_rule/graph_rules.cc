// SPDX-License-Identifier: Apache-2.0

#include "framework/train/graph_rule/graph_rules.h"

#include <algorithm>
#include <limits>
#include <set>

#include "framework/core/text.h"
#include "framework/graph/model_text.h"
#include "framework/train/rule/adam.h"
#include "framework/train/rule/adaptive.h"
#include "framework/train/rule/descent.h"

namespace assay::train {
namespace {

/// "float[2,3] x" of ONNX's text form.
std::string Declared(DType type, const Shape& shape, std::string_view name) {
  return StrCat(type == DType::kFloat64 ? "double" : "float",
                shape.rank() == 0 ? "" : shape.ToString(), " ", name);
}

Factor Fixed(std::string name, double number) {
  return {std::move(name), [number](const Progress&) { return number; }};
}

Factor Rate() {
  return {"rate", [](const Progress& at) { return at.rate; }};
}

/// The running mean `mean`, of which a step keeps `keep` and takes `rest` of
/// what is new.
std::string Moved(std::string_view mean, std::string_view keep,
                  std::string_view rest, std::string_view taken) {
  return StrCat(mean, "_kept = Mul(", keep, ", ", mean, ") ", mean,
                "_new = Mul(", rest, ", ", taken, ") next_", mean, " = Add(",
                mean, "_kept, ", mean, "_new) ");
}

/// The divisor `to` of a square, as Root has it.
std::string Divisor(EpsilonAt at, std::string_view square,
                    std::string_view to) {
  if (at == EpsilonAt::kInRoot) {
    return StrCat(to, "_square = Add(", square, ", epsilon) ", to, " = Sqrt(",
                  to, "_square) ");
  }
  return StrCat(to, "_root = Sqrt(", square, ") ", to, " = Add(", to,
                "_root, epsilon) ");
}

/// x less rate times `step`.
std::string Less(std::string_view step) {
  return StrCat("way = Mul(rate, ", step, ") next_x = Sub(x, way)");
}

RuleGraph Ahead(std::string_view op, const DescentSettings& settings) {
  const bool is_inside = settings.rate_at == DescentSettings::RateAt::kInside;
  const double momentum = settings.momentum;
  return {{{"ahead",
            [=](const Progress& at) {
              return is_inside ? momentum : -at.rate * momentum;
            }}},
          StrCat("way = Mul(ahead, velocity) next_x = ", op, "(x, way)")};
}

GraphRule RuleOf(const DescentSettings& settings) {
  GraphRule rule;
  if (settings.momentum == 0) {
    rule.update = {{Rate()}, Less("g")};
    return rule;
  }
  const bool is_inside = settings.rate_at == DescentSettings::RateAt::kInside;
  const bool is_undampened =
      settings.first == DescentSettings::First::kUndampened;
  const double fresh = 1 - settings.dampening;
  rule.slots = {{"velocity"}};
  rule.update.factors = {
      Fixed("momentum", settings.momentum),
      {"added",
       [=](const Progress& at) {
         const double now = is_undampened && at.step == 1 ? 1 : fresh;
         return is_inside ? -at.rate * now : now;
       }},
      {"reach", [=](const Progress& at) { return is_inside ? 1 : -at.rate; }}};
  rule.update.nodes = Moved("velocity", "momentum", "added", "g");
  if (settings.nesterov == DescentSettings::Nesterov::kFolded) {
    rule.update.factors.push_back({"direct", [=](const Progress& at) {
                                     return is_inside ? -at.rate : 1;
                                   }});
    rule.update.nodes +=
        "straight = Mul(direct, g) carried = Mul(momentum, next_velocity) "
        "step = Add(straight, carried) way = Mul(reach, step) ";
  } else {
    rule.update.nodes += "way = Mul(reach, next_velocity) ";
  }
  rule.update.nodes += "next_x = Add(x, way)";
  if (settings.nesterov == DescentSettings::Nesterov::kAhead) {
    rule.prepare = Ahead("Add", settings);
    rule.restore = Ahead("Sub", settings);
  }
  return rule;
}

constexpr char kFirst[] = "first_moment", kSecond[] = "second_moment";

std::string Moments() {
  return StrCat(Moved(kFirst, "beta1", "rest1", "g"), "g_square = Mul(g, g) ",
                Moved(kSecond, "beta2", "rest2", "g_square"));
}

std::vector<Factor> FactorsOfMoments(double beta1, double beta2,
                                     double epsilon) {
  return {Fixed("beta1", beta1), Fixed("rest1", 1 - beta1),
          Fixed("beta2", beta2), Fixed("rest2", 1 - beta2),
          Fixed("epsilon", epsilon)};
}

GraphRule RuleOf(const AdamSettings& settings) {
  using Maximum = AdamSettings::Maximum;
  const std::string greatest = "greatest_second_moment";
  GraphRule rule;
  rule.slots = {{kFirst}, {kSecond}};
  rule.update.factors =
      FactorsOfMoments(settings.beta1, settings.beta2, settings.epsilon);
  const auto add = [&](const char* name, double AdamFactors::*number) {
    rule.update.factors.push_back({name, [=](const Progress& at) {
                                     return FactorsOf(settings, at).*number;
                                   }});
  };
  add("rate", &AdamFactors::rate);
  std::string& nodes = rule.update.nodes = Moments();
  std::string first = "next_first_moment";
  std::string second = "next_second_moment";
  const auto take_greatest = [&] {
    rule.slots.push_back({greatest});
    nodes += StrCat("next_", greatest, " = Max(", greatest, ", ", second, ") ");
    second = StrCat("next_", greatest);
  };
  if (settings.maximum == Maximum::kBefore) take_greatest();
  if (settings.correction == AdamSettings::Correction::kMoments) {
    add("first", &AdamFactors::first);
    add("second", &AdamFactors::second);
    nodes += StrCat("first_corrected = Div(", first,
                    ", first) second_corrected = Div(", second, ", second) ");
    first = "first_corrected";
    second = "second_corrected";
  }
  if (settings.maximum == Maximum::kAfter) take_greatest();
  nodes += StrCat(Divisor(settings.epsilon_at, second, "divisor"),
                  "step = Div(", first, ", divisor) ", Less("step"));
  return rule;
}

GraphRule RuleOf(const AdaGradSettings& settings) {
  const double decay = settings.rate_decay;
  GraphRule rule;
  rule.slots = {{"sum_of_squares", settings.initial}};
  rule.update.factors = {
      Fixed("epsilon", settings.epsilon),
      {"rate", [=](const Progress& at) {
         return at.rate / (1 + static_cast<double>(at.step - 1) * decay);
       }}};
  rule.update.nodes = StrCat(
      "g_square = Mul(g, g) "
      "next_sum_of_squares = Add(sum_of_squares, g_square) ",
      Divisor(settings.epsilon_at, "next_sum_of_squares", "divisor"),
      "step = Div(g, divisor) ", Less("step"));
  return rule;
}

GraphRule RuleOf(const AdaDeltaSettings& settings) {
  GraphRule rule;
  rule.slots = {{"mean_square"}, {"mean_square_step"}};
  rule.update.factors = {Rate(), Fixed("rho", settings.rho),
                         Fixed("rest", 1 - settings.rho),
                         Fixed("epsilon", settings.epsilon)};
  rule.update.nodes = StrCat(
      "g_square = Mul(g, g) ", Moved("mean_square", "rho", "rest", "g_square"),
      Divisor(EpsilonAt::kInRoot, "mean_square_step", "steps"),
      Divisor(EpsilonAt::kInRoot, "next_mean_square", "divisor"),
      "scale = Div(steps, divisor) step = Mul(scale, g) "
      "step_square = Mul(step, step) ",
      Moved("mean_square_step", "rho", "rest", "step_square"), Less("step"));
  return rule;
}

GraphRule RuleOf(const RmsPropSettings& settings) {
  const bool is_inside = settings.rate_at == RmsPropSettings::RateAt::kInside;
  GraphRule rule;
  rule.slots = {{"mean_square", settings.initial}};
  rule.update.factors = {Fixed("rho", settings.rho),
                         Fixed("rest", 1 - settings.rho),
                         Fixed("epsilon", settings.epsilon), Rate()};
  std::string& nodes = rule.update.nodes = StrCat(
      "g_square = Mul(g, g) ", Moved("mean_square", "rho", "rest", "g_square"));
  std::string spread = "next_mean_square";
  if (settings.centered == RmsPropSettings::Centered::kYes) {
    rule.slots.push_back({"mean"});
    nodes += StrCat(Moved("mean", "rho", "rest", "g"),
                    "mean_squared = Mul(next_mean, next_mean) "
                    "spread = Sub(next_mean_square, mean_squared) ");
    spread = "spread";
  }
  nodes += StrCat(Divisor(settings.epsilon_at, spread, "divisor"),
                  "scaled = Div(g, divisor) ");
  if (settings.momentum == 0) {
    nodes += Less("scaled");
    return rule;
  }
  rule.slots.push_back({"velocity"});
  rule.update.factors.push_back(Fixed("momentum", settings.momentum));
  nodes += "kept = Mul(momentum, velocity) ";
  nodes += is_inside ? "added = Mul(rate, scaled) "
                       "next_velocity = Add(kept, added) "
                       "next_x = Sub(x, next_velocity)"
                     : StrCat("next_velocity = Add(kept, scaled) ",
                              Less("next_velocity"));
  return rule;
}

/// Adds the norm of x within its limits, and says its name.
std::string AddSize(const LambSettings& settings, RuleGraph* graph) {
  graph->nodes +=
      "x_square = Mul(x, x) x_sum = ReduceSum<keepdims = 0>(x_square) "
      "x_norm = Sqrt(x_sum) ";
  std::string size = "x_norm";
  if (settings.least > 0) {
    graph->factors.push_back(Fixed("least", settings.least));
    graph->nodes += StrCat("size_above = Max(", size, ", least) ");
    size = "size_above";
  }
  if (settings.most < double{std::numeric_limits<float>::max()}) {
    graph->factors.push_back(Fixed("most", settings.most));
    graph->nodes += StrCat("size_below = Min(", size, ", most) ");
    size = "size_below";
  }
  return size;
}

GraphRule RuleOf(const LambSettings& settings) {
  GraphRule rule;
  rule.slots = {{kFirst}, {kSecond}};
  rule.update.factors =
      FactorsOfMoments(settings.beta1, settings.beta2, settings.epsilon);
  const auto bias = [&](const char* name, double beta) {
    rule.update.factors.push_back(
        {name, [beta](const Progress& at) { return BiasOf(beta, at.step); }});
  };
  bias("first", settings.beta1);
  bias("second", settings.beta2);
  rule.update.factors.push_back(
      {"decay", [](const Progress& at) { return at.own_decay; }});
  rule.update.factors.push_back(Rate());
  rule.update.factors.push_back(Fixed("one", 1));
  rule.update.nodes =
      StrCat(Moments(),
             "first_corrected = Div(next_first_moment, first) "
             "second_corrected = Div(next_second_moment, second) ",
             Divisor(EpsilonAt::kAfterRoot, "second_corrected", "divisor"),
             "adapted = Div(first_corrected, divisor) decayed = Mul(decay, x) "
             "step = Add(adapted, decayed) step_square = Mul(step, step) "
             "step_sum = ReduceSum<keepdims = 0>(step_square) "
             "length = Sqrt(step_sum) ");
  const std::string size = AddSize(settings, &rule.update);
  // Where one of the two norms is 0, `lacks` is 1, and so is the trust.
  rule.update.nodes +=
      StrCat("has_size = Sign(", size,
             ") has_length = Sign(length) "
             "has = Mul(has_size, has_length) lacks = Sub(one, has) "
             "under = Add(length, lacks) ratio = Div(",
             size,
             ", under) "
             "scaled = Mul(has, ratio) trust = Add(scaled, lacks) "
             "trusted = Mul(rate, trust) way = Mul(trusted, step) "
             "next_x = Sub(x, way)");
  return rule;
}

template <class RuleSettings>
Result<ReadRule> Read(std::vector<std::pair<std::string, std::string>> settings,
                      Recipe recipe) {
  RuleSettings own;
  Settings all;
  AddTo(&recipe, &all);
  own.AddTo(&all);
  for (const auto& [name, value] : settings) {
    ASSAY_RETURN_IF_ERROR(all.Set(StrCat(name, "=", value)));
  }
  return ReadRule{RuleOf(own), std::move(recipe), std::move(settings)};
}

struct Reader {
  std::string_view name;
  Result<ReadRule> (*read)(std::vector<std::pair<std::string, std::string>>,
                           Recipe);
};

constexpr Reader kReaders[] = {
    {"gradient_descent", Read<DescentSettings>},
    {"momentum", Read<DescentSettings>},
    {"nesterov", Read<DescentSettings>},
    {"adam", Read<AdamSettings>},
    {"amsgrad", Read<AdamSettings>},
    {"adamw", Read<AdamSettings>},
    {"adagrad", Read<AdaGradSettings>},
    {"adadelta", Read<AdaDeltaSettings>},
    {"rmsprop", Read<RmsPropSettings>},
    {"lamb", Read<LambSettings>},
};

}  // namespace

Operands OperandsOfMove(const GraphRule& rule) {
  Operands operands = {{"x"}, {"x"}};
  for (const Slot& slot : rule.slots) operands.read.push_back(slot.name);
  return operands;
}

Operands OperandsOfUpdate(const GraphRule& rule) {
  Operands operands = OperandsOfMove(rule);
  operands.written = operands.read;
  operands.read.emplace_back("g");
  return operands;
}

Shape ShapeOfFactors(const Shape& parameter) {
  return parameter.rank() == 0 ? Shape() : Shape{1};
}

Result<std::shared_ptr<const Model>> ModelOf(const RuleGraph& graph,
                                             const Operands& operands,
                                             DType type, const Shape& shape) {
  if (type != DType::kFloat32 && type != DType::kFloat64) {
    return Unsupported(Reason::kDType, "found a parameter of type ",
                       ToString(type), ", wanted float32 or float64");
  }
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  for (const std::string& name : operands.read) {
    inputs.push_back(Declared(type, shape, name));
  }
  for (const Factor& factor : graph.factors) {
    inputs.push_back(Declared(type, ShapeOfFactors(shape), factor.name));
  }
  for (const std::string& name : operands.written) {
    outputs.push_back(Declared(type, shape, StrCat("next_", name)));
  }
  return graph::ParseModelText(StrCat("rule (", Joined(inputs), ") => (",
                                      Joined(outputs), ") { ", graph.nodes,
                                      " }"));
}

Result<std::vector<std::string>> OperatorsOf(const GraphRule& rule) {
  std::set<std::string> found;
  const auto add = [&](const RuleGraph& graph,
                       const Operands& operands) -> Status {
    ASSAY_ASSIGN_OR_RETURN(const auto model,
                           ModelOf(graph, operands, DType::kFloat32, Shape{1}));
    for (const Node& node : model->graph().nodes) found.insert(node.op_type);
    return OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(add(rule.update, OperandsOfUpdate(rule)));
  for (const auto& move : {rule.prepare, rule.restore}) {
    if (!move.has_value()) continue;
    ASSAY_RETURN_IF_ERROR(add(*move, OperandsOfMove(rule)));
  }
  return std::vector<std::string>(found.begin(), found.end());
}

bool HasGraphRule(std::string_view optimizer) {
  return std::ranges::count(kReaders, optimizer, &Reader::name) > 0;
}

Result<ReadRule> GraphRuleOf(const Wanted& wanted, Recipe recipe) {
  ASSAY_ASSIGN_OR_RETURN(Made made, MakeOptimizer(wanted, recipe));
  const auto* const reader =
      std::ranges::find(kReaders, wanted.name, &Reader::name);
  if (reader == std::end(kReaders)) {
    return Unsupported(Reason::kOperator, "found the optimizer '", wanted.name,
                       "', whose rule is no graph of one parameter, wanted ",
                       Joined(kReaders, ", ", &Reader::name));
  }
  return reader->read(std::move(made.settings), std::move(recipe));
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "framework/backend/network_interfaces.h"
#include "framework/core/tensor.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/graph/edit/submodel.h"
#include "framework/graph/model.h"
#include "framework/testing/draw/draw.h"
#include "framework/testing/limit/limit.h"
#include "framework/train/bisect/bisect.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/quad.h"

namespace assay::bisect {
namespace {

NamedState StateOf(quad::LockstepQuad& lockstep) {
  NamedState state(lockstep.parameters().size());
  for (const auto& [p, tensor] : lockstep.StateByParameter()) {
    state[p].emplace_back(tensor.name, quad::InQuad(tensor.value));
  }
  return state;
}

// The first node of a network that is wrong at one place, forward or backward.
// Values are compared in the order of the graph, gradients in reverse order. A
// gradient by a value belongs to the node that reads it. Roundings explain as
// much as in optdiff/beside_judge.h.

struct NodeFault {
  std::string op_type;  // empty: no node is wrong
  bool is_backward = false;
  std::string value;  // that it computes, or that the gradient is taken by
  /// The worst element, as "element 3 is 1, wanted 2".
  std::string element;
  /// True when many elements are off, in either direction, as sums kept in
  /// fewer digits are. `digits` then says how many digits are right.
  bool is_noise = false;
  double digits = 0;  // binary digits that are right
};

struct Running {
  std::shared_ptr<const Model> model;
  Backend& backend;
};

struct InnerValue {
  std::string name;
  Tensor value;     // of float32 or float64
  Tensor gradient;  // undefined where it was not asked for
};

struct InnerValues {
  /// The values of float32 and float64 that nodes compute, in the order of the
  /// graph.
  std::vector<InnerValue> values;
  std::vector<InnerValue> parameters;
};

/// The names of the values that nodes compute, outputs of the model among them.
std::vector<std::string> ComputedBy(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) names.push_back(graph[id].name);
    }
  }
  return names;
}

std::vector<Value> InputsOf(const Network& network,
                            const optdiff::Place& place) {
  std::vector<Value> inputs;
  size_t next = 0;
  for (const ValueInfo& info : network.inputs()) {
    inputs.emplace_back(place.InputOf(info.name, &next));
  }
  return inputs;
}

bool IsJudged(const Value& value) {
  const Tensor* const tensor = value.tensor();
  return tensor != nullptr && (tensor->dtype() == DType::kFloat32 ||
                               tensor->dtype() == DType::kFloat64);
}

struct Ran {
  std::unique_ptr<Network> network;
  std::unique_ptr<Binding> binding;
};

Result<Ran> RunWith(const std::shared_ptr<const Model>& model, Backend& backend,
                    const LoadOptions& options, const optdiff::Place& place) {
  Ran ran;
  ASSAY_ASSIGN_OR_RETURN(ran.network, backend.Load(model, options));
  if (ran.network == nullptr) return Internal("the backend loaded nothing");
  ASSAY_ASSIGN_OR_RETURN(ran.binding,
                         ran.network->Bind(InputsOf(*ran.network, place), {}));
  if (ran.binding == nullptr) return Internal("the backend bound nothing");
  ASSAY_RETURN_IF_ERROR(ran.network->Forward(*ran.binding));
  ASSAY_RETURN_IF_ERROR(ran.network->Synchronize());
  return ran;
}

/// A cotangent of 1 for the loss, the last output of the model.
Result<std::vector<Value>> OneForLoss(const Graph& graph, const Ran& ran) {
  const size_t loss = graph.outputs.size() - 1;
  std::vector<Value> cotangents(ran.binding->outputs().size());
  const Tensor* const tensor = ran.binding->outputs()[loss].tensor();
  if (tensor == nullptr) return Internal("the loss is no tensor");
  const std::array<double, 1> one = {1};
  ASSAY_ASSIGN_OR_RETURN(cotangents[loss],
                         draw::TensorOf(tensor->dtype(), tensor->shape(), one));
  return cotangents;
}

/// Makes the model whose only output is the last one, so that the other outputs
/// become inner values.
Result<std::shared_ptr<const Model>> WithLossAlone(const Model& model) {
  const Graph& graph = model.graph();
  edit::Submodel all;
  for (size_t n = 0; n < graph.nodes.size(); ++n) all.nodes.push_back(n);
  for (const ValueId id : graph.inputs) {
    all.inputs.push_back({id, graph[id].type});
  }
  const ValueId loss = graph.outputs.back();
  all.outputs.push_back({loss, graph[loss].type});
  return edit::MakeSubmodel(model, graph, all);
}

/// Runs the model at the place: parameters by name, the batch in its order. The
/// loss is its last output. Declines as Load and Bind do, and where the backend
/// gives no inner values or gradients.
Result<InnerValues> InnerValuesOf(const Model& whole, Backend& backend,
                                  const optdiff::Place& place) {
  ASSAY_ASSIGN_OR_RETURN(const auto model, WithLossAlone(whole));
  const Graph& graph = model->graph();
  LoadOptions options;
  for (const std::string& name : ComputedBy(graph)) {
    const bool is_output = std::ranges::any_of(
        graph.outputs, [&](ValueId id) { return graph[id].name == name; });
    if (!is_output) options.extra_outputs.push_back(name);
  }
  ASSAY_ASSIGN_OR_RETURN(const Ran forward,
                         RunWith(model, backend, options, place));
  // The order is that of the graph; in the network outputs of the model come
  // first.
  std::vector<std::pair<std::string, Value>> found;
  for (const std::string& name : ComputedBy(graph)) {
    const auto outputs = forward.network->outputs();
    const auto at = std::ranges::find(outputs, name, &ValueInfo::name);
    if (at == outputs.end()) continue;
    const Value& value =
        forward.binding->outputs()[static_cast<size_t>(at - outputs.begin())];
    if (IsJudged(value)) found.emplace_back(name, value);
  }
  InnerValues inner;
  for (const train::Parameter& parameter : place.parameters) {
    options.gradient_targets.push_back(parameter.name);
    inner.parameters.push_back({parameter.name, parameter.value, {}});
  }
  for (const auto& [name, value] : found) {
    inner.values.push_back({name, *value.tensor(), {}});
    if (std::ranges::find(options.extra_outputs, name) !=
        options.extra_outputs.end()) {
      options.gradient_targets.push_back(name);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const Ran both,
                         RunWith(model, backend, options, place));
  Differentiable* const gradients = both.network->differentiable();
  if (gradients == nullptr) {
    return Unsupported(Reason::kGradient, "the backend has no gradients");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> one, OneForLoss(graph, both));
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<Value> given,
      gradients->Backward(*both.binding, one, options.gradient_targets));
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = options.gradient_targets[i];
    auto& group = i < inner.parameters.size() ? inner.parameters : inner.values;
    const auto at = std::ranges::find(group, name, &InnerValue::name);
    if (at != group.end() && given[i].tensor() != nullptr) {
      at->gradient = *given[i].tensor();
    }
  }
  return inner;
}

/// A place whose numbers are one rounding away from those of another.
struct RoundedPlace {
  std::vector<Tensor> batch;
  std::vector<train::Parameter> parameters;
};

Result<RoundedPlace> Rounded(const optdiff::Place& place, double roundoff,
                             draw::Draw* draw) {
  RoundedPlace rounded;
  const auto round = [&](const Tensor& tensor) -> Result<Tensor> {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, tensor.Clone());
    if (copy.dtype() != DType::kFloat64) return copy;
    for (double& x : copy.mutable_elements<double>()) {
      x *= 1 + draw->Sign() * roundoff;
    }
    return copy;
  };
  for (const Tensor& tensor : place.batch) {
    ASSAY_ASSIGN_OR_RETURN(rounded.batch.emplace_back(), round(tensor));
  }
  for (const train::Parameter& parameter : place.parameters) {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, round(parameter.value));
    rounded.parameters.push_back({parameter.name, std::move(copy)});
  }
  return rounded;
}

/// One tensor of the backend, of the judge, and of the judge at the rounded
/// place.
struct Three {
  Tensor got, want, rounded;
};

bool IsRight(const Three& three) {
  if (!three.got.defined() || !three.want.defined()) return true;
  if (three.got.shape() != three.want.shape()) return false;
  const std::vector<double> want = draw::NumbersOf(three.want);
  const optdiff::Distance distance = optdiff::DistanceOf(three.got, want);
  const double roundoff = limit::UnitRoundoff(three.got.dtype());
  const double explained =
      std::max(roundoff * distance.norm,
               optdiff::L2(draw::NumbersOf(three.rounded), want));
  return distance.l2 <= optdiff::kSieve * explained;
}

/// Fills in the worst element, and if the errors are noise.
void Describe(const Three& three, NodeFault* fault) {
  if (three.got.shape() != three.want.shape()) {
    fault->element = StrCat("it is ", three.got.Signature(), ", wanted ",
                            three.want.shape().ToString());
    return;
  }
  const std::vector<double> got = draw::NumbersOf(three.got);
  const std::vector<double> want = draw::NumbersOf(three.want);
  const double roundoff = limit::UnitRoundoff(three.got.dtype());
  size_t worst = 0;
  size_t n_off = 0;
  double along = 0;
  double errors = 0;
  double norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double off = got[i] - want[i];
    if (!(std::abs(off) <= std::abs(got[worst] - want[worst]))) worst = i;
    n_off += std::abs(off) > optdiff::kSieve * roundoff * std::abs(want[i]);
    along += off * want[i];
    errors += off * off;
    norm += want[i] * want[i];
  }
  fault->element = StrCat("element ", worst, " is ", file::ToText(got[worst]),
                          ", wanted ", file::ToText(want[worst]));
  const double relative = std::sqrt(errors / norm);
  // A wrong factor has errors in proportion to the numbers; a slip has one
  // great error.
  const bool is_along = std::abs(along) > 0.5 * std::sqrt(errors * norm);
  const double greatest = std::abs(got[worst] - want[worst]);
  const bool is_one = greatest * greatest > 0.5 * errors && got.size() > 4;
  fault->is_noise = std::isfinite(relative) && relative < 0x1p-5 &&
                    4 * n_off > got.size() && !is_along && !is_one;
  fault->digits = -std::log2(relative);
}

/// The index of the node that computes a value, or of the first that reads it.
size_t NodeAt(const Graph& graph, const std::string& name, bool reads) {
  const auto node = std::ranges::find_if(graph.nodes, [&](const Node& each) {
    const auto& ids = reads ? each.inputs : each.outputs;
    return std::ranges::any_of(ids, [&](ValueId id) {
      return id != kNoValue && graph[id].name == name;
    });
  });
  return static_cast<size_t>(node - graph.nodes.begin());
}

struct Named {
  std::string name;
  size_t node = 0;
  Three three;
};

NodeFault FirstOf(const Graph& graph, const std::vector<Named>& all,
                  bool is_backward) {
  NodeFault fault;
  const auto named = std::ranges::find_if_not(all, IsRight, &Named::three);
  if (named == all.end()) return fault;
  fault.is_backward = is_backward;
  fault.value = named->name;
  fault.op_type =
      named->node < graph.nodes.size() ? graph.nodes[named->node].op_type : "?";
  Describe(named->three, &fault);
  return fault;
}

NodeFault FirstForward(const Graph& graph, const InnerValues& got,
                       const InnerValues& want, const InnerValues& rounded) {
  std::vector<Named> all;
  for (size_t i = 0; i < got.values.size(); ++i) {
    const std::string& name = got.values[i].name;
    all.push_back(
        {name,
         NodeAt(graph, name, /*reads=*/false),
         {got.values[i].value, want.values[i].value, rounded.values[i].value}});
  }
  return FirstOf(graph, all, /*is_backward=*/false);
}

/// Looks from the loss backwards: at gradients by the values that the last
/// nodes read first.
NodeFault FirstBackward(const Graph& graph, const InnerValues& got,
                        const InnerValues& want, const InnerValues& rounded) {
  std::vector<Named> all;
  for (const auto group : {&InnerValues::values, &InnerValues::parameters}) {
    for (size_t i = 0; i < (got.*group).size(); ++i) {
      const std::string& name = (got.*group)[i].name;
      all.push_back({name,
                     NodeAt(graph, name, /*reads=*/true),
                     {(got.*group)[i].gradient, (want.*group)[i].gradient,
                      (rounded.*group)[i].gradient}});
    }
  }
  std::ranges::stable_sort(all, std::greater<>(), &Named::node);
  return FirstOf(graph, all, /*is_backward=*/true);
}

/// `wide` is the same network in float64 on the judge, and `wide_place` the
/// same place.
Result<NodeFault> FirstCause(const Running& narrow, const Running& wide,
                             const optdiff::Place& narrow_place,
                             const optdiff::Place& wide_place,
                             draw::Draw draw) {
  ASSAY_ASSIGN_OR_RETURN(
      const InnerValues got,
      InnerValuesOf(*narrow.model, narrow.backend, narrow_place));
  ASSAY_ASSIGN_OR_RETURN(const InnerValues want,
                         InnerValuesOf(*wide.model, wide.backend, wide_place));
  const double roundoff =
      limit::UnitRoundoff(narrow_place.parameters[0].value.dtype());
  ASSAY_ASSIGN_OR_RETURN(const RoundedPlace near,
                         Rounded(wide_place, roundoff, &draw));
  ASSAY_ASSIGN_OR_RETURN(const InnerValues rounded,
                         InnerValuesOf(*wide.model, wide.backend,
                                       {near.batch, near.parameters,
                                        wide_place.given, wide_place.step}));
  if (got.values.size() != want.values.size()) {
    return Internal("found ", got.values.size(), " inner values, wanted ",
                    want.values.size());
  }
  const Graph& graph = narrow.model->graph();
  NodeFault fault = FirstForward(graph, got, want, rounded);
  if (!fault.op_type.empty()) return fault;
  return FirstBackward(graph, got, want, rounded);
}

}  // namespace

std::string_view ToString(Cause cause) {
  constexpr std::string_view kWords[] = {
      "none",        "initial weights", "data order",
      "forward",     "loss reduction",  "gradient",
      "update rule", "convention",      "schedule",
      "state",       "accumulation",    "running statistics"};
  return kWords[static_cast<size_t>(cause)];
}

Finding Say(Cause cause, int64_t step, const std::string& run,
            std::string where, const std::string& what) {
  return {cause, step, run, std::move(where),
          step == 0 ? what : StrCat("at step ", step, " ", what)};
}

Result<Side> Side::Begin(const char* name, BisectRun run,
                         const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                         optdiff::JudgeFor(run.course, options.oracle));
  Side side{name,        run.backend, run.course, run.setup.optimizer,
            run.between, nullptr};
  auto begun = optdiff::LockedRun::Begin(
      run.course, std::move(run.setup), run.backend, judge,
      draw::Draw(name, static_cast<int64_t>(options.seed), "roundings"));
  if (!begun.ok()) return begun.status().WithContext(StrCat("run ", name));
  side.run = *std::move(begun);
  return side;
}

Status Side::Step(int64_t step) {
  seen.optimizer = rule;
  seen.settings = lockstep().settings();
  seen.at = {.step = step, .schedule = lockstep().ScheduleAt(step)};
  const std::span<const train::Parameter> parameters = lockstep().parameters();
  seen.start = quad::InQuad(parameters);
  seen.state = StateOf(lockstep());
  optdiff::StepRows none({}, {}, nullptr);
  auto stepped = run->Step(step, &none);
  if (!stepped.ok()) {
    return stepped.status().WithContext(
        StrCat("run ", name, " at step ", step));
  }
  fault = *std::move(stepped);
  seen.gradients = quad::InQuad(run->objective().got());
  seen.result = quad::InQuad(parameters);
  seen.left = StateOf(lockstep());
  return OkStatus();
}

void Side::Take(const Side& other) {
  run->Take(*other.run);
  other.run->Lock();
  run->Lock();
}

Result<Finding> WrongNode(const Side& side, int64_t step,
                          const BisectOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const optdiff::StepBatch batch,
                         side.course.batch(step));
  const optdiff::Place place = side.run->objective().PlaceOf(batch.narrow);
  ASSAY_ASSIGN_OR_RETURN(const auto wide, optdiff::Widened(place.parameters));
  ASSAY_ASSIGN_OR_RETURN(const auto wide_given, optdiff::Widened(place.given));
  auto fault = FirstCause(
      {side.course.narrow.model, side.backend},
      {side.course.wide.model, options.oracle}, place,
      {batch.wide, wide, wide_given, place.step},
      draw::Draw("cause", static_cast<int64_t>(options.seed), "roundings"));
  const std::string run = StrCat("run ", side.name);
  if (!fault.ok() || fault->op_type.empty()) {
    // A network that also gives inner values may compute right.
    const bool is_loss =
        side.fault.reason == std::string_view(optdiff::kFailLoss);
    return Say(is_loss ? Cause::kForward : Cause::kGradient, step, side.name,
               side.fault.tensor,
               StrCat("of ", run, " ", side.fault.what,
                      fault.ok() ? "" : "; its inner values are not given: ",
                      fault.ok() ? "" : fault.status().message()));
  }
  if (fault->is_noise) {
    return Say(Cause::kAccumulation, step, side.name, fault->op_type,
               StrCat("the ", fault->op_type, " of ", run, " keeps ",
                      std::lround(fault->digits), " binary digits",
                      fault->is_backward ? " backward" : "", ": of ",
                      fault->value, " ", fault->element));
  }
  return Say(fault->is_backward ? Cause::kGradient : Cause::kForward, step,
             side.name, fault->op_type,
             StrCat("the ", fault->op_type, " of ", run, " is wrong ",
                    fault->is_backward ? "backward: of the gradient by "
                                       : "forward: of ",
                    fault->value, " ", fault->element));
}

}  // namespace assay::bisect

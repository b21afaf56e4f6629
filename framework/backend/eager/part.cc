// SPDX-License-Identifier: Apache-2.0

#include "framework/backend/eager/part.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "framework/backend/eager/frame.h"
#include "framework/backend/eager/gradient_run.h"
#include "framework/graph/edit/submodel.h"

namespace assay::eager {
namespace {

/// Walks from the output back to the inputs.
class Cutter {
 public:
  explicit Cutter(const Graph& graph) : graph_(graph) {}

  Result<Graph> Cut(const GraphPart& part) {
    cut_.name = part.output;
    cut_.values = graph_.values;
    for (const std::string& name : part.inputs) {
      ASSAY_ASSIGN_OR_RETURN(const ValueId id, Find(name));
      cut_.inputs.push_back(id);
      if (!inputs_.insert(id).second) {
        return InvalidArgument("'", name, "' stands twice");
      }
    }
    ASSAY_ASSIGN_OR_RETURN(const ValueId output, Find(part.output));
    cut_.outputs = {output};
    if (!inputs_.contains(output)) needed_.insert(output);
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      ASSAY_RETURN_IF_ERROR(Offer(graph_.nodes[i]));
    }
    std::ranges::reverse(cut_.nodes);
    for (const ValueId id : needed_) {
      ASSAY_RETURN_IF_ERROR(Capture(id));
    }
    return std::move(cut_);
  }

 private:
  Result<ValueId> Find(const std::string& name) const {
    const ValueId id = graph_.FindValue(name);
    if (id != kNoValue) return id;
    return InvalidArgument("'", name, "' is no value of the graph");
  }

  // Takes the node when it computes something that is needed.
  Status Offer(const Node& node) {
    const bool computes = std::ranges::any_of(
        node.outputs, [&](ValueId id) { return needed_.contains(id); });
    if (!computes) return OkStatus();
    if (node.op_type == "Gradient" &&
        node.domain == "ai.onnx.preview.training") {
      return Unsupported(Reason::kGradient, "'", cut_.name, "' depends on ",
                         node.Label(),
                         ", and derivatives of derivatives are not offered");
    }
    Node& taken = cut_.nodes.emplace_back(node);
    for (ValueId& id : taken.outputs) {
      if (inputs_.contains(id)) id = kNoValue;  // what is fed stands for it
      needed_.erase(id);
    }
    for (const ValueId id : edit::ReadBy(node)) {
      if (!inputs_.contains(id)) needed_.insert(id);
    }
    return OkStatus();
  }

  // A value that no node computes: fixed by the graph, or from around it.
  Status Capture(ValueId id) {
    const bool captured =
        std::ranges::find(graph_.captures, id, &assay::Capture::inner) !=
        graph_.captures.end();
    if (!captured && graph_.FindInitializer(id) == nullptr) {
      return InvalidArgument("'", cut_.name, "' depends on '", graph_[id].name,
                             "', which is none of the independent variables");
    }
    cut_.captures.push_back({id, id});
    return OkStatus();
  }

  const Graph& graph_;
  Graph cut_;
  std::set<ValueId> inputs_;
  std::set<ValueId> needed_;  // and not computed by a node that was taken
};

/// As many ones as `value` has elements.
Result<Value> OnesLike(const Tensor& value) {
  ASSAY_ASSIGN_OR_RETURN(Tensor ones,
                         Tensor::Allocate(value.dtype(), value.shape()));
  const auto fill = [&ones](auto one) {
    for (size_t at = 0; at < ones.bytes().size(); at += sizeof(one)) {
      std::memcpy(ones.mutable_data() + at, &one, sizeof(one));
    }
  };
  switch (value.dtype()) {
    case DType::kFloat16:
      fill(uint16_t{0x3C00});
      break;
    case DType::kBFloat16:
      fill(uint16_t{0x3F80});
      break;
    case DType::kFloat32:
      fill(1.0F);
      break;
    default:
      fill(1.0);
  }
  return Value(std::move(ones));
}

struct CalledPart final : DifferentiablePart {
  Result<std::vector<Value>> Differentiate(
      Frame& frame, std::span<const Value> inputs) const override {
    return differentiate(
        [&frame](std::span<const Value> fed) { return frame.Call(fed); },
        inputs, targets);
  }

  DifferentiateFunction differentiate;
  int targets = 0;
};

struct PlannedPart final : DifferentiablePart {
  Result<std::vector<Value>> Differentiate(
      Frame& frame, std::span<const Value> inputs) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Value> outputs,
                           frame.Call(inputs));
    ASSAY_ASSIGN_OR_RETURN(const Value ones, OnesLike(*outputs[0].tensor()));
    return RunBackward(plan, frame, {&ones, 1}, targets);
  }

  GradientPlan plan;
  std::vector<std::string> targets;
};

}  // namespace

Result<Graph> CutPart(const Graph& graph, const GraphPart& part) {
  return Cutter(graph).Cut(part);
}

Status CheckFed(const Node& node, const Graph& cut, const LoadScope& scope) {
  if (node.inputs.size() != cut.inputs.size()) {
    return InvalidArgument("found ", node.inputs.size(), " inputs, wanted ",
                           cut.inputs.size());
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) {
      return InvalidArgument("input ", i, " is omitted");
    }
    const ValueType& fed = *scope.types[static_cast<size_t>(node.inputs[i])];
    const ValueType& wanted = *scope.types[static_cast<size_t>(cut.inputs[i])];
    if (fed.dtype != wanted.dtype) {
      return InvalidArgument("input ", i, " is ", fed.ToString(), ", and '",
                             cut[cut.inputs[i]].name, "' is ",
                             wanted.ToString());
    }
  }
  return OkStatus();
}

Result<std::shared_ptr<DifferentiablePart>> MakePart(
    const GraphPart& part, std::shared_ptr<const Graph> graph, Program program,
    const LoadScope& outer, const LoadOptions& options,
    const MakeBackward& make_backward) {
  auto made = std::make_shared<PlannedPart>();
  made->graph = std::move(graph);
  made->program = std::move(program);
  made->targets.assign(part.inputs.begin(), part.inputs.begin() + part.targets);
  const LoadScope inner(*made->graph, &outer, {});
  ASSAY_ASSIGN_OR_RETURN(
      made->plan, PlanGradient(made->program, inner, made->targets, options,
                               make_backward));
  if (!made->plan.carries[static_cast<size_t>(made->graph->outputs[0])]) {
    return Unsupported(Reason::kGradient, "'", part.output,
                       "' is no tensor of floats of 16 to 64 bits");
  }
  return std::shared_ptr<DifferentiablePart>(std::move(made));
}

std::shared_ptr<DifferentiablePart> MakePart(
    const GraphPart& part, std::shared_ptr<const Graph> graph, Program program,
    DifferentiateFunction differentiate) {
  auto made = std::make_shared<CalledPart>();
  made->graph = std::move(graph);
  made->program = std::move(program);
  made->differentiate = std::move(differentiate);
  made->targets = part.targets;
  return made;
}

LoneNode CutNode(const Node& node, const LoadScope& scope) {
  LoneNode alone;
  Graph& graph = alone.graph;
  graph.name = node.Label();
  std::map<ValueId, ValueId> places = {{kNoValue, kNoValue}};
  const auto place = [&](ValueId id) {
    const auto next = static_cast<ValueId>(graph.values.size());
    const bool is_new = places.emplace(id, next).second;
    if (is_new) {
      graph.values.push_back(
          {scope.graph[id].name, *scope.types[static_cast<size_t>(id)]});
    }
    return is_new;
  };
  const std::vector<ValueId> reads = ReadsOf(node);
  for (size_t i = 0; i < reads.size(); ++i) {
    if (!place(reads[i])) continue;
    graph.inputs.push_back(places[reads[i]]);
    alone.inputs.push_back(Input{static_cast<int>(i), true});
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!place(node.outputs[i])) continue;
    graph.outputs.push_back(places[node.outputs[i]]);
    alone.outputs.push_back(Output{static_cast<int>(i), true});
  }
  Node& copy = graph.nodes.emplace_back(node);
  for (ValueId& id : copy.inputs) id = places[id];
  for (ValueId& id : copy.outputs) id = places[id];
  for (std::shared_ptr<const Graph>* body : copy.MutableSubgraphs()) {
    Graph moved = **body;
    for (assay::Capture& capture : moved.captures) {
      capture.outer = places[capture.outer];
    }
    *body = std::make_shared<const Graph>(std::move(moved));
  }
  return alone;
}

}  // namespace assay::eager

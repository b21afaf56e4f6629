// SPDX-License-Identifier: Apache-2.0
//
// If, Loop and Scan: the nodes of the bodies that run.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "framework/core/text.h"
#include "perf/work/rules.h"
#include "perf/work/work_of.h"

namespace assay::work {
namespace {

const Graph& BodyOf(const NodeFacts& facts, std::string_view name) {
  const Attribute* attribute = facts.node().Find(name);
  const auto* body =
      attribute == nullptr
          ? nullptr
          : std::get_if<std::shared_ptr<const Graph>>(&attribute->held);
  if (body == nullptr) {
    throw Untold{Reason::kAttribute, StrCat("it has no ", name)};
  }
  return **body;
}

/// The work of a body, where all of its nodes tell theirs.
Work WorkOfBody(const Graph& body) {
  ModelWork sum = WorkOf(body);
  if (!sum.unknown.empty()) {
    throw Untold{Reason::kValue, StrCat("of its body, ", sum.unknown.front())};
  }
  return sum.work;
}

/// If-25: the branch that is taken, or both where they are the same work.
void CountIf(const NodeFacts& facts, Work* work) {
  const auto cond = facts.Fixed(0);
  if (cond.has_value() && cond->size() == 1) {
    *work += WorkOfBody(
        BodyOf(facts, (*cond)[0] != 0 ? "then_branch" : "else_branch"));
    return;
  }
  const Work then_work = WorkOfBody(BodyOf(facts, "then_branch"));
  if (then_work != WorkOfBody(BodyOf(facts, "else_branch"))) {
    throw Untold{Reason::kValue, "which branch is taken is in the data"};
  }
  *work += then_work;
}

/// True when the body of a Loop goes on whatever it computes: it passes its
/// condition on, or has a constant that is true.
bool GoesOn(const Graph& body) {
  ValueId id = body.outputs.at(0);
  for (size_t i = 0; i <= body.nodes.size(); ++i) {
    if (body.inputs.size() > 1 && id == body.inputs[1]) return true;
    const auto maker = std::ranges::find_if(body.nodes, [id](const Node& node) {
      return node.op_type == "Identity" && node.outputs[0] == id;
    });
    if (maker == body.nodes.end()) break;
    id = maker->inputs[0];
  }
  const std::optional<Tensor> fixed = FixedIn(body, id);
  const auto truth = fixed.has_value() ? IntegersOf(*fixed) : std::nullopt;
  return truth.has_value() && truth->size() == 1 && truth->front() != 0;
}

/// Loop-25: as many trips as M says, where no condition ends it before.
void CountLoop(const NodeFacts& facts, Work* work) {
  const Graph& body = BodyOf(facts, "body");
  const bool starts = !facts.HasIn(1) || facts.FixedNumber(1, "cond") != 0;
  if (!starts) return;
  if (!facts.HasIn(0) || !GoesOn(body)) {
    throw Untold{Reason::kValue, "a condition in the data ends it"};
  }
  const auto trips = static_cast<double>(facts.FixedNumber(0, "M"));
  if (trips > 0) *work += trips * WorkOfBody(body);
}

/// Scan-25: a trip an element of the scanned axis.
void CountScan(const NodeFacts& facts, Work* work) {
  const auto scanned = static_cast<size_t>(facts.Integer("num_scan_inputs", 0));
  const size_t inputs = facts.node().inputs.size();
  if (scanned == 0 || scanned > inputs) {
    throw Untold{Reason::kAttribute, "it has no scan input"};
  }
  const std::vector<int64_t> axes = facts.Integers("scan_input_axes");
  const Shape x = facts.In(inputs - scanned);
  const int axis = facts.Axis(axes.empty() ? 0 : axes[0], x.rank());
  *work += static_cast<double>(x[axis]) * WorkOfBody(BodyOf(facts, "body"));
}

constexpr Rule kFlows[] = {
    {"If", {.count = CountIf, .moves = Moves::kCounted}},
    {"Loop", {.count = CountLoop, .moves = Moves::kCounted}},
    {"Scan", {.count = CountScan, .moves = Moves::kCounted}},
    {"ai.onnx.preview.training:Gradient",
     {.unknown = "it stands for nodes that no signature names"}},
};

}  // namespace

std::span<const Rule> FlowRules() { return kFlows; }

}  // namespace assay::work

// SPDX-License-Identifier: Apache-2.0

#include "framework/train/bisect/first_cause.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/testing/limit/limit.h"
#include "framework/train/bisect/inner_values.h"
#include "framework/train/optdiff/beside_judge.h"
#include "framework/train/optdiff/locked_run.h"

namespace assay::bisect {
namespace {

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
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, round(tensor));
    rounded.batch.push_back(std::move(copy));
  }
  for (const train::Parameter& parameter : place.parameters) {
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, round(parameter.value));
    rounded.parameters.push_back({parameter.name, std::move(copy)});
  }
  return rounded;
}

double L2(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i)
    squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

/// One tensor of the backend, of the judge, and of the judge at the rounded
/// place.
struct Three {
  Tensor got, want, rounded;
};

bool IsWithin(const Three& three) {
  if (!three.got.defined() || !three.want.defined()) return true;
  if (three.got.shape() != three.want.shape()) return false;
  const std::vector<double> want = draw::NumbersOf(three.want);
  const optdiff::Distance distance = optdiff::DistanceOf(three.got, want);
  const double roundoff = limit::UnitRoundoff(three.got.dtype());
  const double explained = std::max(roundoff * distance.norm,
                                    L2(draw::NumbersOf(three.rounded), want));
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

/// The operator of the node that computes a value, or of the first that reads
/// it.
std::string OperatorAt(const Graph& graph, const std::string& name,
                       bool reads) {
  for (const Node& node : graph.nodes) {
    const auto& ids = reads ? node.inputs : node.outputs;
    const bool is_here = std::ranges::any_of(ids, [&](ValueId id) {
      return id != kNoValue && graph[id].name == name;
    });
    if (is_here) return node.op_type;
  }
  return "?";
}

/// The index of the first node that reads the value.
size_t FirstReader(const Graph& graph, const std::string& name) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId id : graph.nodes[n].inputs) {
      if (id != kNoValue && graph[id].name == name) return n;
    }
  }
  return graph.nodes.size();
}

struct Named {
  std::string name;
  size_t reader = 0;
  Three three;
};

NodeFault FirstForward(const Graph& graph, const InnerValues& got,
                       const InnerValues& want, const InnerValues& rounded) {
  NodeFault fault;
  for (size_t i = 0; i < got.values.size(); ++i) {
    const Three three{got.values[i].value, want.values[i].value,
                      rounded.values[i].value};
    if (IsWithin(three)) continue;
    fault.value = got.values[i].name;
    fault.op_type = OperatorAt(graph, fault.value, /*reads=*/false);
    Describe(three, &fault);
    return fault;
  }
  return fault;
}

/// Looks from the loss backwards: at gradients by the values that the last
/// nodes read first.
NodeFault FirstBackward(const Graph& graph, const InnerValues& got,
                        const InnerValues& want, const InnerValues& rounded) {
  std::vector<Named> all;
  const auto add = [&](const std::vector<InnerValue>& of_got,
                       const std::vector<InnerValue>& of_want,
                       const std::vector<InnerValue>& of_rounded) {
    for (size_t i = 0; i < of_got.size(); ++i) {
      all.push_back(
          {of_got[i].name,
           FirstReader(graph, of_got[i].name),
           {of_got[i].gradient, of_want[i].gradient, of_rounded[i].gradient}});
    }
  };
  add(got.values, want.values, rounded.values);
  add(got.parameters, want.parameters, rounded.parameters);
  std::ranges::stable_sort(all, std::greater<>(), &Named::reader);
  NodeFault fault;
  for (const Named& named : all) {
    if (IsWithin(named.three)) continue;
    fault.is_backward = true;
    fault.value = named.name;
    fault.op_type = OperatorAt(graph, named.name, /*reads=*/true);
    Describe(named.three, &fault);
    return fault;
  }
  return fault;
}

}  // namespace

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

}  // namespace assay::bisect

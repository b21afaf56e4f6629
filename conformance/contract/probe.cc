// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/probe.h"

#include <algorithm>
#include <cmath>

#include "framework/core/text.h"
#include "framework/graph/model_text.h"

namespace assay::contract {
namespace {

constexpr ProbeOperator kProbes[] = {
    {.op = "Relu",
     .value = [](float x) { return x > 0 ? x : 0.F; },
     .slope = [](float x) { return x > 0 ? 1.F : 0.F; }},
    {.op = "Mul",
     .twice = true,
     .value = [](float x) { return x * x; },
     .slope = [](float x) { return 2 * x; }},
    {.op = "Abs",
     .value = [](float x) { return std::fabs(x); },
     .slope = [](float x) { return x > 0 ? 1.F : -1.F; }},
    {.op = "Add",
     .twice = true,
     .value = [](float x) { return x + x; },
     .slope = [](float) { return 2.F; }},
    {.op = "Neg",
     .value = [](float x) { return -x; },
     .slope = [](float) { return -1.F; }},
};

}  // namespace

std::string ProbeOperator::Node(std::string_view output,
                                std::string_view input) const {
  return StrCat(output, " = ", op, "(", input, twice ? StrCat(", ", input) : "",
                ")");
}

std::string ProbeOperator::Model(std::string_view extents) const {
  return StrCat("g (float", extents, " x) => (float", extents, " y) { ",
                Node("y", "x"), " }");
}

std::string ProbeOperator::TwoNodes(std::string_view extents) const {
  const std::string type = StrCat("float", extents, " ");
  return StrCat("g (", type, "a, ", type, "b) => (", type, "c, ", type, "d) { ",
                Node("d", "b"), " ", Node("c", "a"), " }");
}

std::string ProbeOperator::Chain() const {
  return StrCat("g (float[2] x) => (float[2] y) { ", Node("h", "x"), " ",
                Node("y", "h"), " }");
}

std::string ProbeOperator::WithInitializer() const {
  return StrCat("g (float[2] x) => (float[2] y, float[2] z) ",
                "<float[2] w = {1, 2}> { ", Node("y", "x"), " ", Node("z", "w"),
                " }");
}

std::string ProbeOperator::WithInitializers() const {
  return StrCat("g (float[2] x) => (float[2] y, float[2] z, float[2] u) ",
                "<float[2] w = {1, 2}, float[2] v = {3, 4}> { ", Node("y", "x"),
                " ", Node("z", "w"), " ", Node("u", "v"), " }");
}

std::vector<float> ProbeOperator::Values(std::vector<float> x) const {
  for (float& element : x) element = value(element);
  return x;
}

std::vector<float> ProbeOperator::Gradient(std::vector<float> x,
                                           const std::vector<float>& dy) const {
  for (size_t i = 0; i < x.size(); ++i) x[i] = slope(x[i]) * dy.at(i);
  return x;
}

std::span<const ProbeOperator> Probes() { return kProbes; }

std::vector<std::string> ProbesFrom(std::string_view first) {
  std::vector<std::string> names = {std::string(first)};
  for (const ProbeOperator& probe : kProbes) {
    if (probe.op != first) names.emplace_back(probe.op);
  }
  return names;
}

Result<const ProbeOperator*> FindProbe(Backend& backend,
                                       std::span<const std::string> operators,
                                       const LoadOptions& options) {
  std::string tried;
  Status declined;
  for (const std::string& name : operators) {
    const auto probe = std::ranges::find(kProbes, name, &ProbeOperator::op);
    if (probe == std::end(kProbes)) {
      return Internal("found ", name, ", wanted an operator to probe with");
    }
    ASSAY_ASSIGN_OR_RETURN(auto model, graph::ParseModelText(probe->Model()));
    const auto network = backend.Load(std::move(model), options);
    if (network.ok()) return &*probe;
    declined = network.status();
    if (declined.code() != StatusCode::kUnsupported) return declined;
    tried += StrCat(tried.empty() ? "" : "; ", name, ": ", declined.message());
  }
  return Unsupported(declined.reason(),
                     "it loads no operator to probe with: tried ", tried);
}

}  // namespace assay::contract

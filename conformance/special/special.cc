// SPDX-License-Identifier: Apache-2.0

#include "conformance/special/special.h"

#include <exception>
#include <set>
#include <string>

#include "framework/graph/model_text.h"
#include "framework/graph/operator.h"
#include "framework/testing/case/operator_name.h"
#include "framework/testing/suite/suite.h"

namespace assay::inline v1 {
namespace {

constexpr std::string_view kSuite = "special";

using Subgraph = std::shared_ptr<const Graph>;

std::string_view DomainOf(const Node& node) {
  return node.domain.empty() ? "ai.onnx" : std::string_view(node.domain);
}

void AddFacts(const Graph& graph, std::set<std::string>& operators,
              std::set<std::string>& dtypes) {
  for (const ValueInfo& value : graph.values) {
    const ValueType* type = &value.type;
    for (; type != nullptr; type = type->element.get()) {
      if (type->dtype == DType::kUndefined) continue;
      dtypes.emplace(ToString(type->dtype));
    }
  }
  for (const Node& node : graph.nodes) {
    operators.insert(StrCat(DomainOf(node), "::", node.op_type));
    for (const Attribute& attribute : node.attributes) {
      if (const auto* body = std::get_if<Subgraph>(&attribute.held)) {
        AddFacts(**body, operators, dtypes);
      }
    }
  }
}

TestCase Describe(const SpecialCase& special) {
  TestCase c;
  c.test_id = StrCat(kSuite, "/", special.name);
  c.corpus = c.suite = c.kind = kSuite;
  c.op = special.name.substr(0, special.name.find('/'));
  c.domain = "ai.onnx";
  const int opset = special.opset > 0 ? special.opset : NewestOpset("");
  c.imports = {{c.domain, opset}};
  std::set<std::string> operators;
  std::set<std::string> dtypes;
  std::set<std::string> kinds;
  // A text that does not parse is an error of its case when it runs.
  if (const auto model = ParseModelText(special.model, special.opset);
      model.ok()) {
    const Graph& graph = (*model)->graph();
    AddFacts(graph, operators, dtypes);
    for (const Node& node : graph.nodes) {
      c.imports.emplace(DomainOf(node), node.opset);
      if (OperatorName(DomainOf(node), node.op_type) == c.op) {
        c.domain = DomainOf(node);
      }
    }
    for (const auto& ids : {graph.inputs, graph.outputs}) {
      for (const ValueId id : ids) {
        const ValueInfo& value = graph.values[static_cast<size_t>(id)];
        kinds.emplace(ToString(value.type.kind));
      }
    }
  }
  c.opset = c.imports.at(c.domain);
  c.operators.assign(operators.begin(), operators.end());
  c.dtypes.assign(dtypes.begin(), dtypes.end());
  c.value_kinds.assign(kinds.begin(), kinds.end());
  c.limit = {Comparator::kExact, 0, 0, "exact by hand"};
  if (special.rtol > 0) {
    c.limit = {Comparator::kTolerance, special.rtol, 0,
               std::string(special.rtol_reason)};
  }
  return c;
}

std::vector<TestCase> Describe(std::span<const Corpus>) {
  std::vector<TestCase> cases;
  for (const SpecialTheme& theme : SpecialThemes()) {
    for (const SpecialCase& c : theme.cases) cases.push_back(Describe(c));
  }
  return cases;
}

const SpecialCase* Find(std::string_view name) {
  for (const SpecialTheme& theme : SpecialThemes()) {
    for (const SpecialCase& c : theme.cases) {
      if (c.name == name) return &c;
    }
  }
  return nullptr;
}

const bool kRegistered = AddSuite(
    {.name = std::string(kSuite), .cases = &Describe, .data = &SpecialData});

}  // namespace

std::span<const SpecialTheme> SpecialThemes() {
#define ASSAY_SPECIAL_THEME(function, name) {name, function##Cases()},
  static const SpecialTheme kThemes[] = {
      ASSAY_SPECIAL_THEMES(ASSAY_SPECIAL_THEME)};
#undef ASSAY_SPECIAL_THEME
  return kThemes;
}

Result<CaseData> SpecialData(std::string_view test_id) {
  const SpecialCase* special = nullptr;
  if (test_id.starts_with(kSuite)) {
    special = Find(test_id.substr(std::min(kSuite.size() + 1, test_id.size())));
  }
  if (special == nullptr) {
    return NotFound("found no special case ", test_id);
  }
  CaseData data;
  ASSAY_ASSIGN_OR_RETURN(data.model,
                         ParseModelText(special->model, special->opset));
  try {
    data.sets.push_back({special->inputs(), special->expected()});
  } catch (const std::exception& error) {
    return InvalidArgument(test_id, ": ", error.what());
  }
  return data;
}

}  // namespace assay::inline v1

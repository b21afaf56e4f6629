// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/coverage.h"

#include <algorithm>
#include <set>
#include <utility>

#include "framework/cli/list/attribute_values.h"
#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/case/operator_name.h"
#include "framework/testing/record/outcome.h"

namespace assay::list {
namespace {

std::string Qualified(std::string_view domain, std::string_view name) {
  return StrCat(domain.empty() ? "ai.onnx" : domain, "::", name);
}

/// The parts of an operator, untouched.
Coverage Untouched(OperatorId id) {
  const OperatorInfo& info = Operators()[static_cast<size_t>(id)];
  const types::OperatorSignature& signature = types::SignatureOf(id);
  Coverage row;
  row.op = Qualified(info.domain, info.name);
  row.name = cases::OperatorName(info.domain, info.name);
  row.since = info.versions.back();
  row.has_function_body = info.has_function_body;
  for (const int version : info.versions) {
    // No model can have the version that deprecates an operator.
    if (!info.deprecated || version != row.since) row.opsets[version] = 0;
  }
  for (const types::TypeVariable& variable : signature.variables) {
    if (variable.fixed()) continue;
    for (const std::string_view type : variable.types) {
      row.dtypes[StrCat(variable.name, " ", type)] = 0;
    }
  }
  for (const types::AttributeInfo& attribute : signature.attributes) {
    const auto values = ValuesOf(row.name, attribute.name);
    for (const std::string_view value : values) {
      row.values[StrCat(attribute.name, "=", value)] = 0;
    }
    if (!values.empty()) continue;
    row.values[StrCat(attribute.name, " given")] = 0;
    if (!attribute.required) row.values[StrCat(attribute.name, " absent")] = 0;
  }
  return row;
}

/// As signatures have defaults.
std::string TextOf(const Attribute::Held& held) {
  if (const auto* x = std::get_if<int64_t>(&held)) return StrCat(*x);
  if (const auto* x = std::get_if<float>(&held)) return StrCat(*x);
  if (const auto* x = std::get_if<std::string>(&held)) return *x;
  if (const auto* x = std::get_if<std::vector<int64_t>>(&held)) {
    return StrCat("[", Joined(*x, ","), "]");
  }
  if (const auto* x = std::get_if<std::vector<float>>(&held)) {
    return StrCat("[", Joined(*x, ","), "]");
  }
  if (const auto* x = std::get_if<std::vector<std::string>>(&held)) {
    return StrCat("[", Joined(*x, ","), "]");
  }
  return std::string(KindName(held));
}

/// The parts of the operator that a case touches, each once.
class Touches {
 public:
  explicit Touches(OperatorId id)
      : id_(id), info_(Operators()[static_cast<size_t>(id)]) {}

  void AddNodes(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      if (node.op_type == info_.name && node.domain == info_.domain) {
        AddNode(graph, node);
      }
      for (const Graph* body : node.Subgraphs()) AddNodes(*body);
    }
  }

  void CountIn(Coverage* row) const {
    Count(opsets_, &row->opsets);
    Count(dtypes_, &row->dtypes);
    Count(values_, &row->values);
  }

 private:
  /// A part that ONNX does not permit, as a type of an older version, is not
  /// counted.
  template <class Name>
  static void Count(const std::set<Name>& names, Touched<Name>* touched) {
    for (const Name& name : names) {
      const auto found = touched->find(name);
      if (found != touched->end()) ++found->second;
    }
  }

  void AddNode(const Graph& graph, const Node& node) {
    opsets_.insert(VersionInForce(info_, node.opset));
    const types::OperatorSignature& signature = types::SignatureOf(id_);
    AddTypes(graph, signature, signature.inputs, node.inputs);
    AddTypes(graph, signature, signature.outputs, node.outputs);
    for (const types::AttributeInfo& attribute : signature.attributes) {
      AddAttribute(attribute, node.Find(attribute.name));
    }
  }

  void AddTypes(const Graph& graph, const types::OperatorSignature& signature,
                std::span<const types::FormalParameter> formals,
                const std::vector<ValueId>& ids) {
    for (size_t i = 0; i < ids.size(); ++i) {
      const types::FormalParameter* const formal = types::FormalAt(formals, i);
      if (formal == nullptr || ids[i] == kNoValue) continue;
      const auto variable = static_cast<size_t>(formal->variable);
      dtypes_.insert(StrCat(signature.variables[variable].name, " ",
                            types::Word(graph[ids[i]].type)));
    }
  }

  void AddAttribute(const types::AttributeInfo& attribute,
                    const Attribute* given) {
    const std::string_view name = attribute.name;
    const std::string value =
        given == nullptr ? std::string(attribute.initial) : TextOf(given->held);
    values_.insert(StrCat(name, "=", value));
    const bool is_default =
        !attribute.initial.empty() && value == attribute.initial;
    const bool absent = given == nullptr || is_default;
    values_.insert(StrCat(name, absent ? " absent" : " given"));
  }

  OperatorId id_;
  const OperatorInfo& info_;
  std::set<int> opsets_;
  std::set<std::string> dtypes_;
  std::set<std::string> values_;
};

bool IsAboutAnOperator(const cases::TestCase& c) {
  return c.kind != "model" && c.kind != "expanded";
}

void AddResults(const std::vector<record::ResultRow>& results,
                const std::map<std::string, Coverage*>& by_case) {
  for (const record::ResultRow& result : results) {
    const auto found = by_case.find(result.test_id);
    if (found == by_case.end()) continue;
    Coverage::Score& score = found->second->backends[result.backend];
    ++score.judged;
    if (result.outcome == record::Outcome::kPass) ++score.passed;
  }
}

}  // namespace

std::vector<Coverage> CoverageOf(const std::vector<cases::TestCase>& cases,
                                 const std::vector<record::ResultRow>& results,
                                 const GraphOf& graph_of) {
  std::vector<Coverage> rows;
  std::map<std::string, size_t> by_name;
  std::map<std::string, size_t> by_op;
  for (size_t i = 0; i < Operators().size(); ++i) {
    rows.push_back(Untouched(static_cast<OperatorId>(i)));
    by_name.emplace(rows[i].name, i);
    by_op.emplace(rows[i].op, i);
  }
  std::map<std::string, Coverage*> by_case;
  for (const cases::TestCase& c : cases) {
    if (c.kind == "model") {
      for (const std::string& op : c.operators) {
        const auto found = by_op.find(op);
        if (found != by_op.end()) ++rows[found->second].models;
      }
    }
    const auto found = by_name.find(c.op);
    if (found == by_name.end() || !IsAboutAnOperator(c)) continue;
    Coverage& row = rows[found->second];
    ++row.node_cases;
    by_case.emplace(c.test_id, &row);
    Touches touches(static_cast<OperatorId>(found->second));
    const Result<Graph> graph = graph_of(c);
    if (graph.ok()) touches.AddNodes(*graph);
    touches.CountIn(&row);
  }
  AddResults(results, by_case);
  std::ranges::sort(rows, {}, &Coverage::op);
  return rows;
}

}  // namespace assay::list

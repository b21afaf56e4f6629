// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/list/coverage.h"

#include <algorithm>
#include <array>
#include <set>

#include "framework/core/text.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
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

/// Values apart by blanks. An operator's own row goes before one of all.
struct Row {
  std::string_view op;  // empty: of every operator
  std::string_view attribute;
  std::string_view values;
};

constexpr std::string_view kTransforms =
    "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT";
constexpr std::string_view kReductions = "none add mul max min";

/// Attributes of every operator that are 0 or 1.
constexpr std::string_view kFlags =
    "align_corners allowzero antialias ceil_mode center_point_box "
    "count_include_pad detect_negative detect_positive exclude_outside "
    "exclusive fmod input_forget interleaved inverse is_case_sensitive "
    "is_causal keepdims largest layout linear_before_reset new_axis "
    "noop_with_empty_axes onesided periodic reverse saturate "
    "select_last_index sorted storage_order training_mode transA transB upper "
    "zeros";

// From the pages of the operators' current versions.
constexpr Row kRows[] = {
    {"", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"},
    {"", "direction", "forward reverse bidirectional"},
    {"", "post_transform", kTransforms},
    {"", "reduction", "none sum mean"},
    {"", "round_mode", "up down nearest"},
    {"Attention", "qk_matmul_output_mode", "0 1 2 3"},
    {"BitShift", "direction", "LEFT RIGHT"},
    {"CausalConvWithState", "activation", "none silu swish"},
    {"DepthToSpace", "mode", "DCR CRD"},
    {"Gelu", "approximate", "none tanh"},
    {"GridSample", "mode", "linear nearest cubic"},
    {"GridSample", "padding_mode", "zeros border reflection"},
    {"ImageDecoder", "pixel_format", "RGB BGR Grayscale"},
    {"LinearAttention", "update_rule", "linear gated delta gated_delta"},
    {"LpNormalization", "p", "1 2"},
    {"Pad", "mode", "constant reflect edge wrap"},
    {"Resize", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners "
     "asymmetric tf_crop_and_resize"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"Resize", "mode", "nearest linear cubic"},
    {"Resize", "nearest_mode",
     "round_prefer_floor round_prefer_ceil floor ceil"},
    {"RoiAlign", "coordinate_transformation_mode",
     "half_pixel output_half_pixel"},
    {"RoiAlign", "mode", "avg max"},
    {"ScatterElements", "reduction", kReductions},
    {"ScatterND", "reduction", kReductions},
    {"SpaceToDepth", "mode", "DCR CRD"},
    {"StringNormalizer", "case_change_action", "NONE LOWER UPPER"},
    {"TensorScatter", "mode", "linear circular"},
    {"TfIdfVectorizer", "mode", "TF IDF TFIDF"},
    {"ml.CastMap", "cast_to", "TO_FLOAT TO_STRING TO_INT64"},
    {"ml.CastMap", "map_form", "DENSE SPARSE"},
    {"ml.Normalizer", "norm", "MAX L1 L2"},
    {"ml.SVMClassifier", "kernel_type", "LINEAR POLY RBF SIGMOID"},
    {"ml.SVMRegressor", "kernel_type", "LINEAR POLY RBF SIGMOID"},
    {"ml.SVMRegressor", "one_class", "0 1"},
    {"ml.TreeEnsemble", "aggregate_function", "0 1 2 3"},
    {"ml.TreeEnsemble", "post_transform", "0 1 2 3 4"},
    {"ml.TreeEnsembleRegressor", "aggregate_function", "AVERAGE SUM MIN MAX"},
    {"training.Momentum", "mode", "standard nesterov"},
};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) words.push_back(CutFront(&text, " "));
  return words;
}

/// How much is touched of what there is.
struct Share {
  int64_t have = 0;
  int64_t want = 0;

  template <class Name>
  static Share Of(const Touched<Name>& touched) {
    Share share;
    share.want = std::ssize(touched);
    for (const auto& [name, n_cases] : touched) share.have += n_cases > 0;
    return share;
  }
  void Add(const Share& other) {
    have += other.have;
    want += other.want;
  }
  std::string ToString() const { return StrCat(have, "/", want); }
};

std::string Scores(const Coverage& row) {
  std::string text;
  for (const auto& [backend, score] : row.backends) {
    text += StrCat("  ", backend, " ", score.passed, "/", score.judged);
  }
  return text;
}

template <class Name>
std::string Holes(const Coverage& row, std::string_view kind,
                  const Touched<Name>& touched) {
  std::string text;
  for (const auto& [name, n_cases] : touched) {
    if (n_cases == 0) text += StrCat(row.op, " ", kind, " ", name, "\n");
  }
  return text;
}

using Cells = std::array<std::string, 5>;
constexpr size_t kWidths[] = {7, 8, 8, 9, 9};  // of them, up to 80 columns

std::string Line(const std::string& first, size_t width, const Cells& cells) {
  std::string text = first + std::string(width - first.size(), ' ');
  for (size_t i = 0; i < cells.size(); ++i) {  // each at the right end
    text.append(kWidths[i] - std::min(kWidths[i], cells.at(i).size()), ' ');
    text += cells.at(i);
  }
  return text;
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

std::vector<std::string_view> ValuesOf(std::string_view op,
                                       std::string_view attribute) {
  const Row* found = nullptr;
  for (const Row& row : kRows) {
    if (row.attribute != attribute) continue;
    if (row.op == op) return Words(row.values);
    if (row.op.empty()) found = &row;
  }
  if (found != nullptr) return Words(found->values);
  const auto flags = Words(kFlags);
  const bool is_flag = std::ranges::find(flags, attribute) != flags.end();
  return Words(is_flag ? "0 1" : "");
}

std::vector<NamedAttribute> NamedAttributes() {
  std::vector<NamedAttribute> named;
  for (const Row& row : kRows) named.push_back({row.op, row.attribute});
  for (const std::string_view flag : Words(kFlags)) named.push_back({"", flag});
  return named;
}

std::string CoverageTable(const std::vector<Coverage>& rows) {
  size_t width = 8;
  for (const Coverage& row : rows) width = std::max(width, row.op.size());
  std::string text = Line("operator", width,
                          {"cases", "models", "opsets", "dtypes", "values"}) +
                     "\n";
  int64_t without = 0;
  std::array<Share, 3> totals;
  for (const Coverage& row : rows) {
    without += row.node_cases == 0 ? 1 : 0;
    const std::array<Share, 3> shares = {
        Share::Of(row.opsets), Share::Of(row.dtypes), Share::Of(row.values)};
    for (size_t i = 0; i < shares.size(); ++i) totals.at(i).Add(shares.at(i));
    text +=
        Line(row.op, width,
             {StrCat(row.node_cases), StrCat(row.models), shares[0].ToString(),
              shares[1].ToString(), shares[2].ToString()}) +
        Scores(row) + "\n";
  }
  return text + StrCat(rows.size(), " operators, ", without,
                       " without a case of their own; touched are ",
                       totals[0].ToString(), " versions,\n",
                       totals[1].ToString(), " element types and ",
                       totals[2].ToString(), " values of attributes\n");
}

std::string HoleLines(const std::vector<Coverage>& rows) {
  std::string text;
  for (const Coverage& row : rows) {
    text += Holes(row, "opset", row.opsets);
    text += Holes(row, "dtype", row.dtypes);
    text += Holes(row, "value", row.values);
  }
  return text;
}

}  // namespace assay::list

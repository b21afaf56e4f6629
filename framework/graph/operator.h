// SPDX-License-Identifier: Apache-2.0
//
// The parts of the generated typed operators, and how a node becomes one.
//
//   struct Namer {
//     template <class Op>
//     Result<std::string> Visit(const Op& op) {
//       return std::string(Op::kName);
//     }
//   };
//
// generated/operators.h has one struct per ONNX operator, for example
//
//     struct Gemm {
//       static constexpr OperatorId kId = OperatorId::kGemm;
//       Input a{0}, b{1}, c{2};            // positions; present or not
//       Output y{0};
//       float alpha = 1.0F, beta = 1.0F;   // attributes, defaults filled in
//       int64_t trans_a = 0, trans_b = 0;
//       Status Read(const Node& from);     // fills this in, or says why not
//       const Node* node = nullptr;
//     };
//
// A list without a default is empty when the node does not give it; any other
// attribute without one is std::optional, or plain when it is required.
// generated/visitor.h has the visitor with one Visit per operator, and Accept.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "framework/core/status.h"
#include "framework/graph/model.h"

namespace assay::inline v1 {

/// A formal input: its position among the node's inputs, and whether the node
/// gives it.
struct Input {
  int position = 0;
  bool present = false;
};

/// The inputs that a variadic parameter takes: [first, first + count).
struct VariadicInput {
  int first = 0;
  int count = 0;
  Input operator[](int i) const { return {first + i, true}; }
};

/// A formal output, present when the node names it.
struct Output {
  int position = 0;
  bool present = false;
};

struct VariadicOutput {
  int first = 0;
  int count = 0;
  Output operator[](int i) const { return {first + i, true}; }
};

enum class OperatorId : uint16_t;

/// Facts of one operator from ONNX's schema registry.
struct OperatorInfo {
  std::string_view domain;  // "" for ai.onnx
  std::string_view name;
  std::span<const int16_t> versions;  // every version, ascending
  bool has_function_body = false;
  /// In its newest version. ToCurrentOpset replaces Scatter and Upsample, which
  /// a visitor therefore never meets; TreeEnsembleClassifier and
  /// TreeEnsembleRegressor have no successor of the same meaning, and are
  /// visited.
  bool deprecated = false;
};

/// All operators, indexed by OperatorId.
std::span<const OperatorInfo> Operators();

/// A domain of ONNX, and its newest opset that this build knows.
struct DomainInfo {
  std::string_view domain;
  int newest_opset;
};
std::span<const DomainInfo> Domains();

/// The newest known opset of a domain of ONNX; 0 for any other domain.
int NewestOpset(std::string_view domain);

/// The operator of that name; nullopt for custom domains and removed operators.
std::optional<OperatorId> FindOperator(std::string_view domain,
                                       std::string_view name);

/// The version of the operator in force under `opset`, 0 when there is none.
int VersionInForce(const OperatorInfo& info, int opset);

/// Unsupported, reason operator, naming the node and its domain.
Status UnknownOperator(const Node& node);

/// A graph whose nodes of older operator versions are brought to the current
/// form (an attribute that became an input turns into an initializer, and the
/// like). A version that the table in upgrade.cc does not cover is
/// `unsupported`, reason opset, with operator and version named.
Result<Graph> ToCurrentOpset(Graph graph);

/// True when ToCurrentOpset has nothing to do, nor in the subgraphs.
bool IsCurrent(const Graph& graph);

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0
//
// ReadForm: the one function behind every generated Read. It checks a node
// against an operator's formal inputs, outputs and attributes, and fills in the
// members that the generated code points at.
//
//   return ReadForm(from, id, {1, 1, 1, 1}, {{&x, true}}, {{&y, true}},
//                   {{"alpha", &alpha}});

#ifndef ASSAY_GRAPH_TYPES_OPERATOR_FORM_H_
#define ASSAY_GRAPH_TYPES_OPERATOR_FORM_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/graph/operator.h"

namespace assay::inline v1 {

/// How many inputs and outputs the operator takes, omitted ones included.
struct NodeArity {
  int min_inputs;
  int max_inputs;
  int min_outputs;
  int max_outputs;
};

/// A formal input; `required`: a node may not omit it.
struct InputForm {
  std::variant<Input*, VariadicInput*> slot;
  bool required = false;
};

struct OutputForm {
  std::variant<Output*, VariadicOutput*> slot;
  bool required = false;
};

/// An attribute. What the slot points at holds the default, and keeps it when
/// the node does not give the attribute.
struct AttributeForm {
  std::string_view name;
  std::variant<float*, int64_t*, std::string*, Tensor*, SparseTensor*,
               ValueType*, std::shared_ptr<const Graph>*, std::vector<float>*,
               std::vector<int64_t>*, std::vector<std::string>*,
               std::optional<float>*, std::optional<int64_t>*,
               std::optional<std::string>*, std::optional<Tensor>*,
               std::optional<SparseTensor>*, std::optional<ValueType>*>
      slot;
  bool required = false;
};

/// Invalid argument, with operator, place, found and wanted, for a node that
/// does not fit; unsupported, reason opset, for one of an older version.
Status ReadForm(const Node& node, OperatorId id, NodeArity arity,
                std::initializer_list<InputForm> inputs,
                std::initializer_list<OutputForm> outputs,
                std::initializer_list<AttributeForm> attributes);

}  // namespace assay::inline v1

#endif  // ASSAY_GRAPH_TYPES_OPERATOR_FORM_H_

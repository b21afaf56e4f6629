// SPDX-License-Identifier: Apache-2.0
//
// ReadSlots: the one function behind every generated Read. It checks a node
// against an operator's formal inputs, outputs and attributes, and fills in the
// members that the generated code points at.
//
//   return ReadSlots(node, id, {&x}, {&y}, {&alpha});

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "framework/graph/operator.h"

namespace assay::types {

/// Where the member of a formal parameter is.
using InputSlot = std::variant<Input*, VariadicInput*>;
using OutputSlot = std::variant<Output*, VariadicOutput*>;

/// Where an attribute goes. What the slot points at holds the default, and
/// keeps it when the node does not give the attribute.
using AttributeSlot =
    std::variant<float*, int64_t*, std::string*, Tensor*, SparseTensor*,
                 ValueType*, std::shared_ptr<const Graph>*, std::vector<float>*,
                 std::vector<int64_t>*, std::vector<std::string>*,
                 std::optional<float>*, std::optional<int64_t>*,
                 std::optional<std::string>*, std::optional<Tensor>*,
                 std::optional<SparseTensor>*, std::optional<ValueType>*>;

/// The slots in the order of SignatureOf(id). Invalid argument, with operator,
/// place, found and wanted, for a node that does not fit; unsupported, reason
/// opset, for one of an older version.
Status ReadSlots(const Node& node, OperatorId id,
                 std::initializer_list<InputSlot> inputs,
                 std::initializer_list<OutputSlot> outputs,
                 std::initializer_list<AttributeSlot> attributes);

template <class Op>
Status ReadForm(Op* op, const Node& node,
                std::initializer_list<InputSlot> inputs,
                std::initializer_list<OutputSlot> outputs,
                std::initializer_list<AttributeSlot> attributes = {}) {
  op->node = &node;
  return ReadSlots(node, Op::kId, inputs, outputs, attributes);
}

}  // namespace assay::types

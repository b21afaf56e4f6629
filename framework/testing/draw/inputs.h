// SPDX-License-Identifier: Apache-2.0
//
// Other inputs, on which a model can run as on its own.
//
// An input is of the kind that the operators that read it say: numbers, so that
// others may stand in their place, or settings, as axes, shapes and sizes are.
// ONNX does not name the kind. An input that can only be int32 or int64 is a
// setting, any other is numbers; a line of the table states each exception and
// its reason. An integer in a graph of several nodes is kept, since nothing
// says what becomes of it.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "framework/graph/model.h"
#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"
#include "framework/testing/draw/draw.h"

namespace assay::draw {

/// The replacements that an input permits, from the freest to none.
enum class InputKind : uint8_t {
  kUnread,    // whatever: its numbers show nowhere
  kNumbers,   // others within its range
  kShifted,   // the same integer is added to all inputs of this kind
  kShuffled,  // its own elements, in another order
  kRenamed,   // each of its values stands for another one of them
  kSize,      // a setting: other positive sizes, and other outputs' shapes
  kKept,      // a setting: nothing else
};

/// An input of an operator whose kind does not follow from its type.
struct KindLine {
  std::string_view op;  // of ai.onnx; "ai.onnx.ml::LabelEncoder" of another
  std::string_view input;
  InputKind kind;
  std::string_view because;
};

std::span<const KindLine> KindLines();

/// True where other elements would show in outputs of the same shapes.
constexpr bool IsDrawn(InputKind kind) {
  return kind > InputKind::kUnread && kind < InputKind::kSize;
}

InputKind KindOf(OperatorId op, const types::FormalParameter& input);

/// Other sizes for an input of kind kSize, positive where its own are: 1 for 2
/// and the reverse, 3 for 4. Nothing where none is, or where it is not of
/// integers.
std::optional<Tensor> OtherSizes(const Tensor& sizes);

/// By the names of inputs.
using InputKinds = std::map<std::string, InputKind, std::less<>>;

InputKinds KindsOf(const Graph& graph);

/// Floating-point numbers are drawn as Redrawn does, integers from the least to
/// the greatest of the input and no 0 where it has none; what has no such
/// range, as booleans, strings and narrow floats, from the input's own
/// elements. Sequences and optionals are drawn element by element. An input
/// without a kind is kept.
Result<std::vector<Value>> DrawnInputs(const Graph& graph,
                                       const InputKinds& kinds,
                                       std::span<const Value> inputs,
                                       Draw& draw);

}  // namespace assay::draw

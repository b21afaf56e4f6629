// SPDX-License-Identifier: Apache-2.0
//
// Which inputs of an operator are numbers, so that others may stand in their
// place, and which are settings, as axes, shapes and sizes are. ONNX does not
// say: an input of int32 or int64 alone is a setting, any other is of numbers,
// and a line of the table says where that is not so, and why.
//
//   KindOf(reduce_sum, axes);  // InputKind::kKept
//   KindOf(gather, indices);  // InputKind::kNumbers

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "framework/graph/operator.h"
#include "framework/graph/types/signature.h"

namespace assay::draw {

/// What may stand in the place of an input, from the freest to none.
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

}  // namespace assay::draw

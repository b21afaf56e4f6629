// SPDX-License-Identifier: Apache-2.0
//
// The numbers that an operator can take for an input: a variance is positive,
// an index stands for a row of a table. ONNX states them in the operators'
// text, not in its schemas; a line of the table says each, and why.
//
//   const Permitted permitted = PermittedOf(graph, graph.inputs[0]);
//   if (permitted.set == NumberSet::kGiven) reader = permitted.reader;
//   x = NumberIn(permitted.set, x);

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "framework/graph/model.h"

namespace assay::draw {

/// The stricter ones stand below.
enum class NumberSet : uint8_t {
  kAll,
  kNotZero,    // integers from 1 to 4
  kPositive,   // from 0.25; integers from 1 to 4
  kBeyondOne,  // from 1.25; integers from 1 to 4
  kShares,     // from 0 to 0.87
  kInsideOne,  // from -0.87 to 0.87
  kUpTo,       // integers from 1 to an extent
  kBelow,      // integers from 0, below an extent
  kPlaces,     // each the number of its place, from 0
  kGiven,      // those alone that the whole model says
};

/// Places of an extent other than an axis: the least of all axes, and the value
/// of the tensor itself.
inline constexpr int64_t kEveryAxis = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kItsValue = kEveryAxis - 1;

inline constexpr int64_t kUnknownExtent = std::numeric_limits<int64_t>::max();

/// An input that cannot be any number.
struct SetLine {
  std::string_view op;  // of ai.onnx; "ai.onnx.ml::LabelEncoder" of another
  std::string_view input;
  NumberSet set;
  std::string_view because;
  /// For kUpTo and kBelow: the input whose extent it is, its axis, and the
  /// attribute that says another axis.
  std::string_view of = {};
  int64_t axis = 0;
  std::string_view attribute = {};
};

std::span<const SetLine> SetLines();

struct Permitted {
  NumberSet set = NumberSet::kAll;
  int64_t extent = kUnknownExtent;  // of kUpTo and kBelow
  std::string reader;               // "the shape of Reshape"; empty: of kAll
};

/// The strictest set of the operators that read a value of the graph, be it
/// behind nodes that change its type or its shape alone. Subgraphs are not
/// asked.
Permitted PermittedOf(const Graph& graph, ValueId id);

/// A number of the set, made of one between -1.74 and 1.74. A set of integers
/// alone leaves it as it is.
double NumberIn(NumberSet set, double x);

}  // namespace assay::draw

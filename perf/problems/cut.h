// SPDX-License-Identifier: Apache-2.0
//
// Cut: a part of a problem that is a problem itself, so that an oracle which
// could not take the whole says what is right for elements of its outputs.
//
//   const auto cut = CutOf(problem, 0, key);
//   if (cut.has_value()) {
//     ASSAY_ASSIGN_OR_RETURN(const auto part, TakenOf(inputs, cut->inputs));
//     // MakeProblem(cut->problem) of `part` gives TakenOf(outputs,
//     // cut->outputs) of the whole.
//   }
//
// A product is cut to some rows and columns, a convolution to some images,
// filters of a group and a window of places, a recurrent layer to one text and
// its first two steps. Each sum keeps all its terms.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/value.h"
#include "perf/problems/problem.h"

namespace assay::problems {

/// By axis the places of a tensor that are taken, in this order. All of it,
/// where there is no axis.
using Places = std::vector<std::vector<int64_t>>;

/// In a list of places: a zero, as beside an image.
inline constexpr int64_t kZero = -1;

struct Cut {
  Problem problem;
  std::vector<Places> inputs, outputs;  // of each one of the whole
};

/// The most products of a cut, and operations and bytes of a graph; of the
/// products of a recurrent layer 16 times as many.
inline constexpr double kMostProducts = 1 << 20;

/// Cuts of all `set` and keys have one shape. The first set's has the first
/// elements, the second's the last, any other's are drawn. None where no part
/// of at most kMostProducts is known; a graph of few elements is its own.
std::optional<Cut> CutOf(const Problem& problem, int set, uint64_t key);

/// The elements at these places. Invalid argument where it has other axes, or
/// no such place.
Result<Tensor> Taken(const Tensor& from, const Places& places);

/// The same of each of the tensors. Invalid argument where there are not as
/// many, or for a value that is no tensor.
Result<std::vector<Value>> TakenOf(std::span<const Value> from,
                                   std::span<const Places> places);

}  // namespace assay::problems

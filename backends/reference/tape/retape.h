// SPDX-License-Identifier: Apache-2.0
//
// Retape: the gradients of a node whose kernel has no backward. The node runs
// once more, alone and on a tape, with the values that the network gave it, and
// a reverse pass takes the cotangents through.
//
//   kernel.backward = [node](GradientContext& run) {
//     return Retape(node, Drawn::kNothing, run);
//   };
//
// A node with bodies, as If, Loop and Scan, is Repeatable: its bodies draw
// again what they drew in the run. Derivatives take that as given.
//
// Within a kernel derivatives are computed in double, and rounded once to the
// type of the input; between the kernels of a subgraph each value is rounded to
// its own type, as it was in the run, so that a loop ends where it ended. At a
// tie or a kink the branch that was taken says what the derivative is.

#pragma once

#include <cstdint>

#include "framework/backend/eager/eager.h"

namespace assay::reference {

/// The kernel of a node with bodies, which saves the seed that they start from
/// (seeds.h). Within a node that does so too, bodies go on from its seeds.
Kernel Repeatable(Kernel kernel);

/// The draws of a node in the run.
enum class Drawn : uint8_t { kNothing, kFromSavedSeed };

/// Adds the gradients of the inputs of `run` that are wanted. The kernels of
/// `node` are Traced; where the node drew from a saved seed, they are loaded
/// Repeating, and the kernel of `run` is Repeatable. Resource exhausted where
/// the node has more steps than a tape holds; failed precondition where its
/// outputs are of other shapes than those of the run.
Status Retape(const NodeNetwork& node, Drawn drawn, GradientContext& run);

}  // namespace assay::reference

// SPDX-License-Identifier: Apache-2.0
//
// WalkBack: a chain run backward. From the end of its tape, each primitive
// between a wanted input and a given cotangent is reversed by its rule.
//
//   ChainBuilder chain(engine, facts, threads);
//   ASSAY_RETURN_IF_ERROR(
//       WalkBack(tape, {.inputs = {0}, .outputs = {0}}, chain));
//   ASSAY_ASSIGN_OR_RETURN(auto backward, chain.Finish());

#pragma once

#include "backends/onednn/reverse/reverse.h"

namespace assay::onednn {

/// Appends to `chain`. All tensors of the node that carry gradients are
/// float32. Unsupported, reason gradient, where oneDNN has no backward of a
/// primitive, or one has overwritten what backward reads.
Status WalkBack(const Tape& tape, const Asked& asked, ChainBuilder& chain);

}  // namespace assay::onednn

// SPDX-License-Identifier: Apache-2.0
//
// BuildKernel: the kernel of a node from what fills its chain. Where that is
// known the chain is made at Load. Where only extents, axes or the like are
// missing, Kernel::prepare makes it for each binding: oneDNN can do it, it is
// only asked later.
//
//   return BuildKernel(engine, load, [=](ChainBuilder& chain) -> Status {
//     return ...;
//   });
//
// In a network with gradient targets each binding has a chain of its own, which
// keeps what backward reads, and the kernel runs it backward (reverse.h).

#pragma once

#include "backends/onednn/primitive/chain.h"

namespace assay::onednn {

/// Unsupported at Load: what `fill` declines for another reason than that
/// something is not known yet, element types of which this machine has no
/// kernels, and an output with elements from an input without any. Without a
/// backward where the node carries gradients of another type than float32, or
/// oneDNN has no backward of one of its primitives.
Result<Kernel> BuildKernel(const dnnl::engine& engine, LoadContext& load,
                           Fill fill);

}  // namespace assay::onednn

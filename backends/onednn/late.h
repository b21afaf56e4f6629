// SPDX-License-Identifier: Apache-2.0
//
// BuildChain: the kernel of a node from what fills its chain. Where that is
// known the chain is made at Load. Where only extents, axes or the like are
// missing it is made at the first run, and again when they have changed: oneDNN
// can do it, it is only asked later.
//
//   return BuildChain(engine, load, [=](ChainBuilder& chain) -> Status { ...
//   });

#ifndef ASSAY_BACKENDS_ONEDNN_LATE_H_
#define ASSAY_BACKENDS_ONEDNN_LATE_H_

#include <memory>

#include "backends/onednn/chain.h"
#include "framework/backend/backend.h"

namespace assay::onednn {

/// What Placement says of a kernel whose chain is made when it runs.
inline constexpr char kLate[] = "onednn, made for each set of shapes";

/// Unsupported at Load: what `fill` declines for another reason than that
/// something is not known yet, element types of which this machine has no
/// kernels, and an output with elements from an input without any.
Result<Kernel> BuildChain(const dnnl::engine& engine, LoadContext& load,
                          Fill fill);

/// A network with such kernels as one that makes their chains at Bind, by a run
/// over the values that are bound, so that it can still decline there; any
/// other as it is. What fails otherwise is left for Forward to say.
std::unique_ptr<Network> PreparedAtBind(std::unique_ptr<Network> network);

}  // namespace assay::onednn

#endif  // ASSAY_BACKENDS_ONEDNN_LATE_H_

// SPDX-License-Identifier: Apache-2.0
//
// RunMany: a binding run again and again on the same inputs, in one call of its
// host where it has one.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto spent,
//                          RunMany(*network, *binding, 20, [&](auto outputs) {
//                            return Count(outputs);   // false: that is enough
//                          }));

#pragma once

#include <chrono>
#include <functional>
#include <span>

#include "framework/backend/backend.h"
#include "framework/core/status.h"

namespace assay::host {

/// Looks at the outputs of a run; false when no more are wanted.
using SeesRun = std::function<bool(std::span<const Value> outputs)>;

/// Forward and Synchronize, at most `count` times, with a look at the outputs of
/// each run. A host may have run on behind the last that was looked at, and the
/// binding says nothing of its outputs afterwards. Returns the processor time of
/// the thread that ran.
Result<std::chrono::nanoseconds> RunMany(Network& network, Binding& binding,
                                         int64_t count, const SeesRun& sees);

/// Processor time of this thread: other work on the machine costs none of it.
std::chrono::nanoseconds ThreadTime();

}  // namespace assay::host

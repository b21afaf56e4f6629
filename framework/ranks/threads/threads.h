// SPDX-License-Identifier: Apache-2.0
//
// RunThreads: ranks that are threads of this process.

#pragma once

#include <functional>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/endpoint.h"
#include "framework/ranks/threads/world.h"

namespace assay::ranks {

/// Runs `rank` as `ranks` threads, and returns the Status of each. With choices
/// the ranks take turns, one at a time, and change where they send or receive;
/// without, they run as the machine schedules them.
///
/// No rank waits for ever: where all ranks that are left wait, each gets failed
/// precondition with who waits for whom, or cancelled with the rank that failed
/// before. `rank` must not throw; fewer ranks than one are none.
std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank,
                               Choices* choices = nullptr);

}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0
//
// RunThreads: ranks that are threads of this process.
//
//   Status Rank(Endpoint& mine);
//   const std::vector<Status> ended = RunThreads(8, Rank);

#pragma once

#include <functional>
#include <vector>

#include "framework/core/status.h"
#include "framework/dist/endpoint.h"

namespace assay::dist {

/// What each rank returned. Nobody waits for ever: where all that are left wait, each
/// gets failed precondition with who waits for whom, and where a rank fails or leaves
/// without its messages, those that wait for it are cancelled. `rank` throws nothing;
/// fewer ranks than one are none.
std::vector<Status> RunThreads(int ranks,
                               const std::function<Status(Endpoint&)>& rank);

}  // namespace assay::dist

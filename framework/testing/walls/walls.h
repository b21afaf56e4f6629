// SPDX-License-Identifier: Apache-2.0
//
// Walls around the process of a backend: namespaces of its own for users,
// processes and mounts, so that it can neither signal, trace nor find the
// processes of the run, and neither read answers nor write records, policies or
// programs.
//
//   const Status built =
//       BuildWalls({.hidden = {"run/records"}, .kept = {"bin"}});
//   // now in a child; where it failed, nothing has changed
//
// A kernel or a container may forbid them (user_namespaces(7)); the run then
// says so.

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"

namespace assay::walls {

struct Walls {
  std::vector<std::string> hidden;  // folders that are empty behind them
  std::vector<std::string> kept;    // folders that cannot be written
};

/// Goes on in a child behind the walls; the calling process waits for the child
/// and ends as it does. Call it before there are threads. Unavailable with the
/// reason where there can be none.
Status BuildWalls(const Walls& walls);

}  // namespace assay::walls

// SPDX-License-Identifier: Apache-2.0
//
// The exit codes of the assay program, and the one way in which it fails.
//
//   if (!plan.ok()) return Fail(plan.status());

#pragma once

#include "framework/core/status.h"

namespace assay::select {

enum ExitCode : int {
  kExitOk = 0,
  kExitUnexpected = 1,
  kExitUsage = 2,
  kExitUnavailable = 77,
  kExitHarness = 99,
  kExitStopped = 130,
};

/// Prints "assay: message" and gives the exit code that the failure calls for:
/// 2 for wrong usage, 130 after SIGINT or SIGTERM, 99 for the rest.
int Fail(const Status& status);

}  // namespace assay::select

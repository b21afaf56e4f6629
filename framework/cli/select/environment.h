// SPDX-License-Identifier: Apache-2.0
//
// The place and time of a run: the rows of env, the commit, the clock.

#pragma once

#include <future>
#include <string>
#include <vector>

#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"

namespace assay::select {

/// The facts of this machine (machine::EnvironmentOf), the compiler and the
/// type of the build; their digest is env_id.
std::vector<record::EnvRow> EnvironmentRows();

/// The commit that the installation lies in; no id where there is no git or no
/// working tree.
struct Commit {
  std::string id;
  bool dirty = false;  // tracked files differ from it
};

/// Starts to ask git for it, which takes some 20 ms.
std::future<Commit> AskCommit();

/// A row with a fresh run_id ("20261121T101500Z-1a2b3c") and all that is known
/// at the start.
record::RunRow BeginRun(const plan::Plan& plan,
                        const std::vector<record::EnvRow>& env,
                        const Commit& commit);

}  // namespace assay::select

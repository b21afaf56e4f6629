// SPDX-License-Identifier: Apache-2.0
//
// Inspect: what a module says of itself once it is loaded, in a worker, so that
// nothing that it does is done to the caller.
//
//   ASSAY_ASSIGN_OR_RETURN(const Inspection seen,
//                          Inspect(plan::UseOf(backend), folder.Next()));

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/backend/identity/module_file.h"
#include "framework/core/status.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"

namespace assay::supervise {

struct Inspection {
  identity::ModuleNote note;
  record::BackendRow backend;  // version and device, or why it is unavailable
  /// Message: the interfaces that a network of it offers (interfaces_suite.h).
  record::ResultRow interfaces;
  std::vector<std::string> libraries;  // files that the worker executed from
};

/// Journals and logs go to `directory`, which is made.
Result<Inspection> Inspect(const plan::BackendUse& backend,
                           const std::filesystem::path& directory,
                           double timeout_s = 20);

/// Where lines of its policy hang on instruction sets: asks the backend which
/// it may take code of here, as it is set, and reads the policy again. Where it
/// cannot be used none is known, and no such line is in force.
Status ReadPolicyHere(plan::PlannedBackend* backend);

}  // namespace assay::supervise

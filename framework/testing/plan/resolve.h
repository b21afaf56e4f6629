// SPDX-License-Identifier: Apache-2.0
//
// A backend as a person names it, with its module and its policy.

#pragma once

#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/digest.h"
#include "framework/testing/plan/plan.h"

namespace assay::plan {

/// A backend by name, instance or file, with its policy but for the lines that
/// hang on instruction sets. `digests` are the run's.
Result<PlannedBackend> ResolveBackend(const std::string& text,
                                      const file::FileDigests& digests = {});

/// Reads the policy again, of the backend where it may take code of these
/// instruction sets.
Status ReadPolicyFor(std::vector<std::string> isa, PlannedBackend* backend);

/// Failed precondition where the expectations, claims or floors of a backend
/// are no longer those that the plan was made with.
Status CheckPolicies(const Plan& plan);

}  // namespace assay::plan

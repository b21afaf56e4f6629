// SPDX-License-Identifier: Apache-2.0
//
// Plans and their parts as files: plan.csv and plan.json, part.json.
//
//   ASSAY_RETURN_IF_ERROR(WritePlan(plan, "build/plan"));
//   ASSAY_ASSIGN_OR_RETURN(Plan plan, ReadPlan("build/plan"));

#pragma once

#include <filesystem>
#include <string>

#include "framework/core/status.h"
#include "framework/testing/plan/plan.h"

namespace assay::plan {

Status WritePlan(const Plan& plan, const std::filesystem::path& directory);
Result<Plan> ReadPlan(const std::filesystem::path& directory);

/// part.json, which ties a part's journals to its plan.
struct PartHeader {
  PartSelection selection;
  std::string digest;
};
Status WritePart(const PartHeader& part,
                 const std::filesystem::path& directory);
Result<PartHeader> ReadPart(const std::filesystem::path& directory);

/// OK when the part was made with this plan, these modules and this policy;
/// failed precondition, naming it, otherwise.
Status CheckPart(const Plan& plan, const std::filesystem::path& directory);

}  // namespace assay::plan

// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/testing/plan/plan_file.h"

namespace assay::run {
namespace {

namespace fs = std::filesystem;

/// An unchanged plan is left as it is.
Status WriteIfChanged(const plan::Plan& plan, const fs::path& out) {
  const Result<plan::Plan> old = plan::ReadPlan(out);
  if (old.ok() && old->digest == plan.digest &&
      old->policy_hash == plan.policy_hash &&
      old->selection.oracle == plan.selection.oracle) {
    return OkStatus();
  }
  return plan::WritePlan(plan, out);
}

/// Removes the parts that were made with something else.
Status RemoveStaleParts(const plan::Plan& plan, const fs::path& parts) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts, error)) {
    if (plan::CheckPart(plan, entry.path()).ok()) continue;
    fs::remove_all(entry.path(), error);
    if (error) {
      return ResourceExhausted("cannot remove ", entry.path().string(), ": ",
                               error.message());
    }
  }
  return OkStatus();
}

}  // namespace

int PlanCommand(const cli::PlanOptions& options) {
  const Result<plan::Plan> plan = select::PlanOf(options);
  if (!plan.ok()) return select::Fail(plan.status());
  Status status = WriteIfChanged(*plan, options.out);
  if (status.ok()) status = RemoveStaleParts(*plan, options.out / "parts");
  if (!status.ok()) return select::Fail(status);
  std::cout << plan->rows.size() << " cases planned in " << options.out.string()
            << "\n";
  return select::kExitOk;
}

}  // namespace assay::run

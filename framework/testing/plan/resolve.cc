// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/resolve.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/identity/module_file.h"
#include "framework/file/digest.h"
#include "framework/file/module_path.h"
#include "framework/file/nearest.h"
#include "framework/testing/record/clean_text.h"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;

/// The file that `text` begins with, where it names one: a module's name ends
/// in ".so", and settings may follow, as in ./acme.so+threads=2.
std::string FileOf(const std::string& text) {
  const size_t end = text.find(".so");
  if (end == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(end + 3);
  return rest.empty() || rest[0] == '+' ? text.substr(0, end + 3)
                                        : std::string();
}

std::string Known(const std::vector<std::string>& names) {
  return names.empty() ? "none" : Joined(names);
}

}  // namespace

Result<PlannedBackend> ResolveBackend(const std::string& text,
                                      const file::FileDigests& digests) {
  fs::path module;
  std::string instance = text;
  std::string spec = text;
  std::error_code error;
  if (const std::string file = FileOf(text); !file.empty()) {
    const std::string settings = text.substr(file.size());
    module = fs::absolute(file, error).lexically_normal();
    instance = module.stem().string() + settings;
    spec = module.string() + settings;
  }
  ASSAY_ASSIGN_OR_RETURN(Instance parsed, ParseInstance(instance));
  PlannedBackend backend;
  static_cast<Instance&>(backend) = std::move(parsed);
  backend.spec = spec;
  if (module.empty()) module = file::ModulePath(backend.stem);
  if (!fs::exists(module, error)) {
    return InvalidArgument(
        "no backend ", text, ": found no ", module.string(), "; installed are ",
        Known(file::InstalledBackends()),
        file::DidYouMean(backend.stem, file::InstalledBackends()));
  }
  ASSAY_RETURN_IF_ERROR(record::CheckPath(module));
  ASSAY_RETURN_IF_ERROR(identity::CheckModuleFile(module));
  backend.module = module;
  ASSAY_ASSIGN_OR_RETURN(backend.module_sha256, digests.Of(module));
  backend.policy_dir = file::PolicyPath(module);
  ASSAY_ASSIGN_OR_RETURN(backend.launch, ReadLaunch(backend.policy_dir));
  ASSAY_ASSIGN_OR_RETURN(
      backend.policy,
      policy::ReadPolicy(backend.policy_dir, policy::MachineFeatures(),
                         policy::Today()));
  return backend;
}

Status CheckPolicies(const Plan& plan) {
  for (const BackendUse& backend : plan.backends) {
    ASSAY_ASSIGN_OR_RETURN(
        const policy::Policy policy,
        policy::ReadPolicy(backend.policy_dir, policy::MachineFeatures(),
                           policy::Today(), policy::Reasons::kMayBeEmpty));
    ASSAY_ASSIGN_OR_RETURN(const Launch launch, ReadLaunch(backend.policy_dir));
    if (file::Sha256(policy.text()) != backend.policy_hash ||
        launch != backend.launch) {
      return FailedPrecondition("the policy of ", backend.instance, " in ",
                                backend.policy_dir,
                                " is not the one that was planned with: plan "
                                "again");
    }
  }
  return OkStatus();
}

}  // namespace assay::plan

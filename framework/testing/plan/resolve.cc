// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/plan/resolve.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "framework/backend/identity/module_file.h"
#include "framework/file/module_path.h"
#include "framework/file/nearest.h"
#include "framework/testing/record/tables.h"

namespace assay::plan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRanks = "+ranks=";

/// The file that `text` begins with, where it names one: a module's name ends
/// in ".so", and settings may follow, as in ./acme.so+threads=2.
std::string FileOf(const std::string& text) {
  const size_t end = text.find(".so");
  if (end == std::string::npos) return {};
  const std::string_view rest = std::string_view(text).substr(end + 3);
  return rest.empty() || rest[0] == '+' ? text.substr(0, end + 3)
                                        : std::string();
}

/// An instance as a person names it: its words, and its files where it is given
/// by files.
struct Named {
  std::string instance;
  std::string spec;
  fs::path module, carrier;  // empty where they are known by name
};

fs::path Absolute(const std::string& file) {
  std::error_code error;
  return fs::absolute(file, error).lexically_normal();
}

Named NamedBy(std::string text) {
  Named named;
  std::string ranks, rest;
  if (const size_t at = text.find(kRanks); at != std::string::npos) {
    const size_t end = std::min(text.find('+', at + 1), text.size());
    ranks = text.substr(at, end - at);
    rest = text.substr(end);
    text.resize(at);
  }
  named.instance = named.spec = text;
  if (const std::string file = FileOf(text); !file.empty()) {
    named.module = Absolute(file);
    const std::string settings = text.substr(file.size());
    named.instance = named.module.stem().string() + settings;
    named.spec = named.module.string() + settings;
  }
  std::string spec = ranks;
  if (ranks.ends_with(".so")) {
    named.carrier = Absolute(ranks.substr(kRanks.size()));
    ranks = StrCat(kRanks, named.carrier.stem().string());
    spec = StrCat(kRanks, named.carrier.string());
  }
  named.instance += ranks + rest;
  named.spec += spec + rest;
  return named;
}

/// The module of that name, as a command gives it: `text`.
Status CheckThere(const fs::path& module, const std::string& stem,
                  std::string_view what, std::string_view text) {
  std::error_code error;
  if (!fs::exists(module, error)) {
    const std::vector<std::string> names = file::InstalledBackends();
    return InvalidArgument("no ", what, " ", text, ": found no ",
                           module.string(), "; installed are ",
                           names.empty() ? "none" : Joined(names),
                           file::DidYouMean(stem, names));
  }
  ASSAY_RETURN_IF_ERROR(record::CheckPath(module));
  return identity::CheckModuleFile(module);
}

/// The library whose ranks run networks of the backend, in that module, and the
/// policy that is about them: the folder `ranks` of the backend's.
Status ResolveCarrier(const fs::path& module, const file::FileDigests& digests,
                      PlannedBackend* backend) {
  ASSAY_RETURN_IF_ERROR(
      CheckThere(module, backend->carrier, "library", backend->carrier));
  backend->carrier_module = module;
  ASSAY_ASSIGN_OR_RETURN(backend->carrier_sha256, digests.Of(module));
  ASSAY_ASSIGN_OR_RETURN(backend->launch, ReadLaunch(file::PolicyPath(module)));
  if (!backend->launch.has_ranks()) {
    return InvalidArgument("backend ", backend->instance, ": ",
                           backend->carrier,
                           " carries no messages between ranks: it has no "
                           "launch.txt");
  }
  backend->policy_dir /= "ranks";
  return OkStatus();
}

}  // namespace

Result<PlannedBackend> ResolveBackend(const std::string& text,
                                      const file::FileDigests& digests) {
  const Named named = NamedBy(text);
  ASSAY_ASSIGN_OR_RETURN(Instance parsed, ParseInstance(named.instance));
  PlannedBackend backend;
  static_cast<Instance&>(backend) = std::move(parsed);
  backend.spec = named.spec;
  const fs::path module =
      named.module.empty() ? file::ModulePath(backend.stem) : named.module;
  ASSAY_RETURN_IF_ERROR(CheckThere(module, backend.stem, "backend", text));
  backend.module = module;
  ASSAY_ASSIGN_OR_RETURN(backend.module_sha256, digests.Of(module));
  backend.policy_dir = file::PolicyPath(module);
  if (backend.carrier.empty()) {
    ASSAY_ASSIGN_OR_RETURN(backend.launch, ReadLaunch(backend.policy_dir));
  } else {
    const fs::path carrier = named.carrier.empty()
                                 ? file::ModulePath(backend.carrier)
                                 : named.carrier;
    ASSAY_RETURN_IF_ERROR(ResolveCarrier(carrier, digests, &backend));
  }
  ASSAY_RETURN_IF_ERROR(ReadPolicyFor({}, &backend));
  return backend;
}

Status ReadPolicyFor(std::vector<std::string> isa, PlannedBackend* backend) {
  backend->isa = std::move(isa);
  ASSAY_ASSIGN_OR_RETURN(
      backend->policy,
      policy::ReadPolicy(backend->policy_dir,
                         policy::MachineFacts(backend->isa), policy::Today()));
  return OkStatus();
}

Status CheckPolicies(const Plan& plan) {
  for (const BackendUse& backend : plan.backends) {
    ASSAY_ASSIGN_OR_RETURN(
        const policy::Policy policy,
        policy::ReadPolicy(backend.policy_dir, policy::MachineFacts(),
                           policy::Today(), policy::Reasons::kMayBeEmpty));
    const fs::path launched = backend.carrier_module.empty()
                                  ? fs::path(backend.policy_dir)
                                  : file::PolicyPath(backend.carrier_module);
    ASSAY_ASSIGN_OR_RETURN(const Launch launch, ReadLaunch(launched));
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

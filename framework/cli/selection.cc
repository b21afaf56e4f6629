// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <set>

#include "framework/cli/commands.h"
#include "framework/testing/digest.h"
#include "framework/testing/module_path.h"
#include "framework/testing/suite.h"

namespace assay::inline v1 {
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
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

/// The cases of a suite that is code; their ids are all that is hashed, since
/// the programs themselves decide what becomes of them.
Corpus CorpusOf(const Suite& suite) {
  Corpus corpus;
  corpus.name = suite.name;
  corpus.cases = suite.cases();
  std::string ids;
  for (const TestCase& c : corpus.cases) ids += c.test_id + "\n";
  corpus.hash = Sha256(ids);
  return corpus;
}

}  // namespace

int Fail(const Status& status) {
  std::cerr << "assay: " << status.message() << "\n";
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
      return kExitUsage;
    default:
      return kExitHarness;
  }
}

Result<PlannedBackend> ResolveBackend(const std::string& text) {
  fs::path module;
  std::string instance = text;
  std::error_code error;
  if (const std::string file = FileOf(text); !file.empty()) {
    module = fs::absolute(file, error).lexically_normal();
    instance = module.stem().string() + text.substr(file.size());
  }
  ASSAY_ASSIGN_OR_RETURN(Instance parsed, ParseInstance(instance));
  PlannedBackend backend;
  static_cast<Instance&>(backend) = std::move(parsed);
  backend.spec = instance;
  if (module.empty()) {
    module = ModulePath(backend.name);
  } else {
    backend.spec = module.string() + text.substr(FileOf(text).size());
  }
  if (!fs::exists(module, error)) {
    return InvalidArgument("no backend ", text, ": found no ", module.string(),
                           "; installed are ", Known(InstalledBackends()));
  }
  backend.module = module;
  ASSAY_ASSIGN_OR_RETURN(backend.module_sha256, Sha256OfFile(module));
  backend.policy_dir = PolicyPath(module);
  ASSAY_ASSIGN_OR_RETURN(
      backend.policy,
      ReadPolicy(backend.policy_dir, MachineFeatures(), Today()));
  return backend;
}

Result<NamedCorpora> OpenCorpora(const std::vector<std::string>& names) {
  NamedCorpora opened;
  std::vector<std::string> wanted = names;
  if (wanted.empty()) {
    wanted.assign(kDefaultCorpora.begin(), kDefaultCorpora.end());
    std::error_code error;
    if (!fs::exists(InstallPrefix() / "corpus" / "random", error)) {
      std::erase(wanted, "random");
      std::cerr << "assay: left out the corpus random, which the build makes "
                   "with the reference; the run is partial\n";
    }
  }
  for (const std::string& name : wanted) {
    if (const Suite* suite = FindSuite(name)) {
      opened.corpora.push_back(CorpusOf(*suite));
      opened.directories.emplace_back(name);
      continue;
    }
    std::error_code error;
    fs::path directory = InstallPrefix() / "corpus" / name;
    if (name.find('/') != std::string::npos ||
        (!fs::exists(directory, error) && fs::is_directory(name, error))) {
      directory = fs::absolute(name, error).lexically_normal();
    }
    ASSAY_ASSIGN_OR_RETURN(Corpus corpus, ReadCorpus(directory));
    opened.corpora.push_back(std::move(corpus));
    opened.directories.push_back(directory);
  }
  return opened;
}

Status CheckPolicies(const Plan& plan) {
  for (const BackendUse& backend : plan.backends) {
    ASSAY_ASSIGN_OR_RETURN(const Policy policy,
                           ReadPolicy(backend.policy_dir, MachineFeatures(),
                                      Today(), Reasons::kMayBeEmpty));
    if (Sha256(policy.text()) != backend.policy_hash) {
      return FailedPrecondition("the policy of ", backend.instance, " in ",
                                backend.policy_dir,
                                " is not the one that was planned with: plan "
                                "again");
    }
  }
  return OkStatus();
}

Result<Plan> PlanOf(const SelectionOptions& options) {
  std::vector<PlannedBackend> backends;
  std::set<std::string> instances;
  std::vector<std::string> names = options.backends;
  if (names.empty()) names = {"reference"};
  for (const std::string& name : names) {
    ASSAY_ASSIGN_OR_RETURN(PlannedBackend backend, ResolveBackend(name));
    if (!instances.insert(backend.instance).second) {
      return InvalidArgument("backend ", backend.instance, " is named twice");
    }
    backends.push_back(std::move(backend));
  }
  ASSAY_ASSIGN_OR_RETURN(const NamedCorpora opened,
                         OpenCorpora(options.corpora));
  return MakePlan(options.selection, options.command, opened.corpora,
                  opened.directories, backends);
}

}  // namespace assay::inline v1

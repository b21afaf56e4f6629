// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/selection.h"

#include <iostream>
#include <set>

#include "framework/testing/case/read_corpus.h"
#include "framework/testing/file/digest.h"
#include "framework/testing/file/module_path.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/suite/suite.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

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

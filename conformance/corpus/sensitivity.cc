// SPDX-License-Identifier: Apache-2.0

#include "conformance/corpus/sensitivity.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/file/module_path.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/case/test_id.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/recheck.h"

namespace assay::corpus {
namespace {

/// " 0 2", or " -" where every input shows, or " ?" where it does not run.
std::string Insensitive(Backend& backend, const cases::TestCase& test_case) {
  const auto data = cases::ReadCaseData(test_case.directory, 1);
  if (!data.ok()) return " ?";
  std::vector<Value> inputs = data->sets.at(0).inputs;
  std::unique_ptr<Network> network;
  const measure::Observation first =
      measure::Run(backend, data->model, inputs, {}, &network);
  if (!first.status.ok()) return " ?";
  const auto shows = [&](size_t i) {
    const Tensor* tensor = inputs[i].tensor();
    const auto changed =
        tensor == nullptr ? std::nullopt : measure::Changed(*tensor);
    if (!changed.has_value()) return false;
    const Value kept = std::exchange(inputs[i], *changed);
    const measure::Observation seen = measure::RunLoaded(*network, inputs, {});
    inputs[i] = kept;
    return seen.status.ok() &&
           !std::ranges::equal(seen.outputs, first.outputs, measure::SameBits);
  };
  std::string hidden;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!shows(i)) hidden += StrCat(" ", i);
  }
  return hidden.empty() ? " -" : hidden;
}

}  // namespace

Status WriteInsensitive(const std::string& backend_name,
                        const std::filesystem::path& directory,
                        std::ostream& out) {
  ASSAY_RETURN_IF_ERROR(
      LoadBackendModule(file::ModulePath(backend_name)).status());
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(backend_name));
  ASSAY_ASSIGN_OR_RETURN(const cases::Corpus corpus,
                         cases::ReadCorpus(directory));
  // The list has the name that its maker had when it became part of the corpus'
  // digest.
  out << "# SPDX-License-Identifier: Apache-2.0\n"
         "#\n"
         "# Inputs, from 0, that do not show in the outputs when they "
         "are changed; - for none.\n"
         "# All others do, and an _expanded twin is as its case if it "
         "is not listed. Of outputs\n"
         "# drawn at random nothing is said. Made by "
         "assay-sensitivity.";
  std::string_view folder;
  std::map<std::string_view, std::string> all;  // a twin stands behind its case
  for (const cases::TestCase& test_case : corpus.cases) {
    // Outputs that are drawn at random change by themselves.
    if (test_case.limit.comparator == record::Comparator::kDistribution)
      continue;
    const auto of_case = all.find(cases::CaseOfTwin(test_case.test_id));
    const std::string usual = of_case == all.end() ? " -" : of_case->second;
    const std::string found = Insensitive(*backend, test_case);
    const std::string_view id = test_case.test_id;
    all[id] = found;
    if (found == usual) continue;
    const std::string_view before =
        std::exchange(folder, id.substr(0, id.rfind('/')));
    out << (folder == before ? ", " : StrCat("\n", folder, ": "))
        << id.substr(folder.size() + 1) << found;
  }
  out << "\n";
  return OkStatus();
}

}  // namespace assay::corpus

// SPDX-License-Identifier: Apache-2.0
//
// assay-sensitivity: finds out which inputs of a corpus' cases do not show in
// their outputs when they are changed, by running each case again on one backend.
//
//   assay-sensitivity reference build/corpus/onnx > insensitive.txt
//
// A line has a folder and its cases, each with the indices of such inputs, or "?"
// where it does not run. It prints data: it is committed, and every backend is
// held to it.
// Exit codes: 0 printed, 2 usage, 99 the corpus or the backend cannot be used.

#include <algorithm>
#include <iostream>
#include <map>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/file/module_path.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/case/test_id.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/recheck.h"

namespace assay::corpus {
namespace {

constexpr int kUsage = 2;
constexpr int kHarness = 99;

/// " 0 2", or " -" where every input shows, or " ?" where the case does not run.
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

Status Print(const std::string& backend_name, const std::string& directory) {
  ASSAY_RETURN_IF_ERROR(
      LoadBackendModule(file::ModulePath(backend_name)).status());
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(backend_name));
  ASSAY_ASSIGN_OR_RETURN(const cases::Corpus corpus,
                         cases::ReadCorpus(directory));
  std::cout << "# SPDX-License-Identifier: Apache-2.0\n"
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
    std::cout << (folder == before ? ", " : StrCat("\n", folder, ": "))
              << id.substr(folder.size() + 1) << found;
  }
  std::cout << "\n";
  return OkStatus();
}

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: assay-sensitivity BACKEND CORPUS_FOLDER\n";
    return kUsage;
  }
  const Status status = Print(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::cerr << "assay-sensitivity: " << status.message() << "\n";
  return kHarness;
}

}  // namespace
}  // namespace assay::corpus

int main(int argc, char** argv) { return assay::corpus::Main(argc, argv); }

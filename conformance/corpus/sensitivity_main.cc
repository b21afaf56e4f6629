// SPDX-License-Identifier: Apache-2.0
//
// assay-sensitivity: finds out which inputs of a corpus' cases show in their
// outputs when they are changed, by running each case twice on one backend.
//
//   assay-sensitivity reference build/corpus/onnx > sensitivity.txt
//
// A line has a test_id and the indices of the inputs that show, or "-". What
// it prints is data: it is committed, and every backend is held to it.
// Exit codes: 0 printed, 2 usage, 99 the corpus or the backend cannot be used.

#include <algorithm>
#include <iostream>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/testing/case/read_corpus.h"
#include "framework/testing/file/module_path.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/recheck.h"

namespace assay::inline v1 {
namespace {

constexpr int kUsage = 2;
constexpr int kHarness = 99;

/// " 0 2", or " -"; empty where the case does not run or its outputs are not
/// the same each time.
std::string Sensitive(Backend& backend, const TestCase& test_case) {
  const auto data = ReadCaseData(test_case.directory, 1);
  if (!data.ok()) return "";
  std::vector<Value> inputs = data->sets.at(0).inputs;
  std::unique_ptr<Network> network;
  const Observation first = Run(backend, data->model, inputs, {}, &network);
  if (!first.status.ok()) return "";
  std::string found;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* tensor = inputs[i].tensor();
    const auto changed = tensor == nullptr ? std::nullopt : Changed(*tensor);
    if (!changed.has_value()) continue;
    const Value kept = std::exchange(inputs[i], *changed);
    const Observation seen = RunLoaded(*network, inputs, {});
    inputs[i] = kept;
    const bool shows =
        seen.status.ok() &&
        !std::ranges::equal(seen.outputs, first.outputs, SameBits);
    if (shows) found += StrCat(" ", i);
  }
  return found.empty() ? " -" : found;
}

Status Print(const std::string& backend_name, const std::string& directory) {
  ASSAY_RETURN_IF_ERROR(LoadBackendModule(ModulePath(backend_name)).status());
  ASSAY_ASSIGN_OR_RETURN(const auto backend, MakeBackend(backend_name));
  ASSAY_ASSIGN_OR_RETURN(const Corpus corpus, ReadCorpus(directory));
  std::cout << "# SPDX-License-Identifier: Apache-2.0\n"
               "#\n"
               "# Which inputs, from 0, show in the outputs when they are "
               "changed; - for none.\n"
               "# Made by assay-sensitivity.\n";
  for (const TestCase& test_case : corpus.cases) {
    // Outputs that are drawn at random change by themselves.
    if (test_case.limit.comparator == Comparator::kDistribution) continue;
    const std::string found = Sensitive(*backend, test_case);
    if (!found.empty()) std::cout << test_case.test_id << found << "\n";
  }
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
}  // namespace assay::inline v1

int main(int argc, char** argv) { return assay::Main(argc, argv); }

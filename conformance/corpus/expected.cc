// SPDX-License-Identifier: Apache-2.0

#include "conformance/corpus/expected.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/corpus.h"
#include "framework/testing/case/random_weights.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/measure/recheck.h"

namespace assay::corpus {
namespace {

namespace fs = std::filesystem;

template <class To, class From>
Result<Tensor> Converted(const Tensor& from) {
  ASSAY_ASSIGN_OR_RETURN(Tensor to,
                         Tensor::Allocate(kDTypeOf<To>, from.shape()));
  const auto source = from.elements<From>();
  const auto target = to.mutable_elements<To>();
  for (size_t i = 0; i < source.size(); ++i) {
    target[i] = static_cast<To>(source[i]);
  }
  return to;
}

/// The network of a case, in float64, with its outputs after one run.
Result<std::vector<Value>> RunWide(Backend& reference,
                                   const cases::RandomCase& random) {
  ASSAY_ASSIGN_OR_RETURN(auto model,
                         edit::Retyped(*random.source, DType::kFloat64));
  std::map<std::string, Tensor> weights;
  for (const auto& [name, tensor] : random.weights) {
    ASSAY_ASSIGN_OR_RETURN(weights[name], (Converted<double, float>(tensor)));
  }
  ASSAY_ASSIGN_OR_RETURN(model, edit::WithInitializers(*model, weights));
  weights.clear();
  std::vector<Value> inputs;
  for (const Value& input : random.inputs) {
    ASSAY_ASSIGN_OR_RETURN(Tensor wide,
                           (Converted<double, float>(*input.tensor())));
    inputs.emplace_back(std::move(wide));
  }
  ASSAY_ASSIGN_OR_RETURN(const auto network, reference.Load(model, {}));
  model.reset();
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network->Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(network->Forward(*binding));
  ASSAY_RETURN_IF_ERROR(network->Synchronize());
  return std::vector<Value>(binding->outputs().begin(),
                            binding->outputs().end());
}

Status WriteOf(Backend& reference, const fs::path& directory) {
  ASSAY_ASSIGN_OR_RETURN(const cases::RandomCase random,
                         cases::ReadRandomCase(directory));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs, RunWide(reference, random));
  const fs::path data = directory / "test_data_set_0";
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(data));
  const Graph& graph = random.source->graph();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueInfo& info = graph[graph.outputs[i]];
    const Tensor* wide = outputs[i].tensor();
    if (wide == nullptr || wide->dtype() != DType::kFloat64 ||
        info.type.dtype != DType::kFloat32) {
      return Unsupported(Reason::kDType, "output '", info.name, "' is ",
                         info.type.ToString(), ", wanted float32");
    }
    ASSAY_ASSIGN_OR_RETURN(const Tensor narrow,
                           (Converted<float, double>(*wide)));
    ASSAY_ASSIGN_OR_RETURN(const auto bytes,
                           edit::SerializeTensor(narrow, info.name));
    ASSAY_RETURN_IF_ERROR(file::WriteFile(
        data / StrCat("output_", i, ".pb"),
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  return OkStatus();
}

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

Status WriteExpected(const std::vector<std::string>& folders) {
  ASSAY_RETURN_IF_ERROR(
      LoadBackendModule(file::ModulePath("reference")).status());
  ASSAY_ASSIGN_OR_RETURN(const auto reference, MakeBackend("reference"));
  for (const std::string& folder : folders) {
    const Status written = WriteOf(*reference, folder);
    if (!written.ok()) return written.WithContext(folder);
  }
  return OkStatus();
}

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

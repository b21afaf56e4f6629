// SPDX-License-Identifier: Apache-2.0

#include "conformance/corpus/expected.h"

#include <filesystem>
#include <map>
#include <utility>

#include "framework/backend/backend.h"
#include "framework/backend/registry.h"
#include "framework/file/file.h"
#include "framework/file/module_path.h"
#include "framework/graph/edit/model_edit.h"
#include "framework/testing/case/random_weights.h"
#include "framework/testing/case/test_case.h"

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

}  // namespace assay::corpus

// SPDX-License-Identifier: Apache-2.0
//
// assay-expect: writes the expected outputs of cases with random weights, as
// the reference computes them in float64, rounded once to the declared types.
//
//   assay-expect build/corpus/random/model/light/test_vgg19 ...
//
// Exit codes: 0 written, 2 usage, 99 a case could not be read, run or written.

#include <filesystem>
#include <iostream>

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

constexpr int kUsage = 2;
constexpr int kHarness = 99;

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

Status WriteExpected(Backend& reference, const fs::path& directory) {
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

Status WriteAll(int argc, char** argv) {
  ASSAY_RETURN_IF_ERROR(
      LoadBackendModule(file::ModulePath("reference")).status());
  ASSAY_ASSIGN_OR_RETURN(const auto reference, MakeBackend("reference"));
  for (int i = 1; i < argc; ++i) {
    const Status written = WriteExpected(*reference, argv[i]);
    if (!written.ok()) return written.WithContext(argv[i]);
  }
  return OkStatus();
}

int Main(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') {
    std::cerr << "usage: assay-expect CASE_FOLDER...\n";
    return kUsage;
  }
  const Status status = WriteAll(argc, argv);
  if (status.ok()) return 0;
  std::cerr << "assay-expect: " << status.message() << "\n";
  return kHarness;
}

}  // namespace
}  // namespace assay::corpus

int main(int argc, char** argv) { return assay::corpus::Main(argc, argv); }

// SPDX-License-Identifier: Apache-2.0

#include "conformance/contract/subject.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "framework/graph/model_text.h"
#include "framework/testing/host/wire/arena.h"

namespace assay::contract {
namespace {

bool Same(float got, float want) {
  return std::isnan(want) ? std::isnan(got) : got == want;
}

}  // namespace

Result<std::unique_ptr<Network>> Load(Backend& backend, std::string_view text,
                                      const LoadOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(auto model, graph::ParseModelText(text));
  Result<std::unique_ptr<Network>> network =
      backend.Load(std::move(model), options);
  if (network.ok() && *network == nullptr) {
    return Broken("Load was OK and gave no network");
  }
  return network;
}

Value Floats(const std::vector<float>& elements) {
  return Floats(Shape{static_cast<int64_t>(elements.size())}, elements);
}

Value Floats(const Shape& shape, const std::vector<float>& elements) {
  return *Tensor::Of<float>(shape, elements);
}

Result<std::shared_ptr<float>> SharedFloats(const std::vector<float>& numbers) {
  const size_t size = numbers.size() * sizeof(float);
  const auto memory = wire::Arena::Allocate(size);
  if (memory == nullptr) return ResourceExhausted("no memory that is shared");
  std::memcpy(memory.get(), numbers.data(), size);
  return std::shared_ptr<float>(memory, reinterpret_cast<float*>(memory.get()));
}

Result<Fenced> FencedFloats(int64_t extent, float number) {
  Fenced fenced;
  const std::vector<float> all(static_cast<size_t>(extent) + 2, number);
  ASSAY_ASSIGN_OR_RETURN(fenced.memory, SharedFloats(all));
  ASSAY_ASSIGN_OR_RETURN(
      fenced.tensor,
      Tensor::Borrow(DType::kFloat32, {extent}, fenced.memory.get() + 1));
  return fenced;
}

Status RunBound(Network& network, Binding& binding) {
  ASSAY_RETURN_IF_ERROR(network.Forward(binding));
  return network.Synchronize();
}

Result<std::vector<Value>> RunOnce(Network& network,
                                   const std::vector<Value>& inputs) {
  ASSAY_ASSIGN_OR_RETURN(const auto binding, network.Bind(inputs, {}));
  ASSAY_RETURN_IF_ERROR(RunBound(network, *binding));
  const auto outputs = binding->outputs();
  if (outputs.size() != network.outputs().size()) {
    return Broken("found ", outputs.size(), " outputs, wanted ",
                  network.outputs().size());
  }
  std::vector<Value> copies;
  for (const Value& output : outputs) {
    if (output.tensor() == nullptr) return Broken("found no tensor as output");
    ASSAY_ASSIGN_OR_RETURN(Tensor copy, output.tensor()->Clone());
    copies.emplace_back(std::move(copy));
  }
  return copies;
}

Status ExpectFloats(const Value& got, const std::vector<float>& want,
                    std::string_view what) {
  const Tensor* tensor = got.tensor();
  if (tensor == nullptr || tensor->dtype() != DType::kFloat32) {
    return Broken(what, ": found ", got.Type().ToString(), ", wanted float32");
  }
  const auto elements = tensor->elements<float>();
  if (elements.size() != want.size()) {
    return Broken(what, ": found ", tensor->Signature(), ", wanted ",
                  want.size(), " elements");
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (!Same(elements[i], want[i])) {
      return Broken(what, ": found ", elements[i], " at ", i, ", wanted ",
                    want[i]);
    }
  }
  return OkStatus();
}

Status ExpectCode(const Status& status, StatusCode code,
                  std::string_view what) {
  if (status.code() == code) return OkStatus();
  return Broken(what, ": found ", status.ToString(), ", wanted ",
                ToString(code));
}

Status ExpectRefused(const Status& status, std::string_view what) {
  if (!status.ok()) return OkStatus();
  return Broken(what, ": found OK, wanted a refusal");
}

Status ExpectModelRefused(Backend& backend, const ProbeOperator& probe,
                          std::string_view text,
                          const std::vector<Value>& inputs) {
  ASSAY_ASSIGN_OR_RETURN(auto model, graph::ParseModelText(text));
  const auto network = backend.Load(std::move(model), {});
  if (!network.ok()) return ExpectHealthy(backend, probe);
  ASSAY_RETURN_IF_ERROR(ExpectRefused((*network)->Bind(inputs, {}).status(),
                                      StrCat("Load and Bind of ", text)));
  return ExpectHealthy(backend, probe);
}

Status ExpectHealthy(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(*network, {Floats({-1, 2})}));
  return ExpectFloats(y[0], probe.Values({-1, 2}), "a good model, thereafter");
}

}  // namespace assay::contract

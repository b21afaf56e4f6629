// SPDX-License-Identifier: Apache-2.0
//
// Load refuses broken models, and obeys its options. Bind refuses wrong inputs;
// after each refusal the network still runs.

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"
#include "framework/graph/model_text.h"

namespace assay::contract {
namespace {

/// Bind of these values is an invalid argument, and the right ones still run.
Status ExpectBindRefused(Network& network, const std::vector<Value>& inputs,
                         const std::vector<Value>& outputs,
                         std::string_view what) {
  return ExpectCode(network.Bind(inputs, outputs).status(),
                    StatusCode::kInvalidArgument, what);
}

Status ExpectRuns(Network& network, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto y, RunOnce(network, {Floats({-1, 2})}));
  return ExpectFloats(y[0], probe.Values({-1, 2}),
                      "the right input, thereafter");
}

/// Refuses the model of one node that reads x of two elements.
Status ExpectNodeRefused(Backend& backend, const ProbeOperator& probe,
                         std::string_view node) {
  return ExpectModelRefused(
      backend, probe,
      StrCat("g (float[2] x) => (float[2] y) { y = ", node, " }"),
      {Floats({1, 2})});
}

}  // namespace

Status BindShape(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  for (const Shape& shape : {Shape{3}, Shape{1}, Shape{2, 1}, Shape{}}) {
    std::vector<float> elements(static_cast<size_t>(*shape.NumElements()));
    ASSAY_RETURN_IF_ERROR(ExpectBindRefused(
        *network, {Floats(shape, elements)}, {},
        StrCat("Bind of ", shape.ToString(), " for float32[2]")));
  }
  return ExpectRuns(*network, probe);
}

Status BindElementType(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  for (const DType dtype : {DType::kFloat64, DType::kInt32, DType::kFloat16}) {
    ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, {2}));
    ASSAY_RETURN_IF_ERROR(
        ExpectBindRefused(*network, {tensor}, {},
                          StrCat("Bind of ", ToString(dtype), " for float32")));
  }
  return ExpectRuns(*network, probe);
}

Status BindKind(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  const Value tensor = Floats({-1, 2});
  ASSAY_RETURN_IF_ERROR(
      ExpectBindRefused(*network, {Sequence{tensor.Type(), {tensor}}}, {},
                        "Bind of a sequence for a tensor"));
  return ExpectRuns(*network, probe);
}

Status BindMissing(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.TwoNodes()));
  return ExpectBindRefused(*network, {Floats({1, 2, 3}), Value()}, {},
                           "Bind without b");
}

Status BindCount(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.TwoNodes()));
  const Value x = Floats({1, 2, 3});
  ASSAY_RETURN_IF_ERROR(
      ExpectBindRefused(*network, {x}, {}, "Bind of one value for two inputs"));
  ASSAY_RETURN_IF_ERROR(ExpectBindRefused(
      *network, {x, x, x}, {}, "Bind of three values for two inputs"));
  return ExpectBindRefused(*network, {x, x}, {Value(), Value(), Value()},
                           "Bind of three values for two outputs");
}

Status BindUnknownName(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  const Value x = Floats({-1, 2});
  ASSAY_RETURN_IF_ERROR(ExpectCode(Run(*network, {{"x", x}, {"z", x}}).status(),
                                   StatusCode::kInvalidArgument,
                                   "feeding z beside x"));
  return ExpectRuns(*network, probe);
}

Status BindOutput(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  const Value x = Floats({-1, 2});
  ASSAY_RETURN_IF_ERROR(ExpectBindRefused(*network, {x}, {Floats({0, 0, 0})},
                                          "Bind of float32[3] for output y"));
  ASSAY_ASSIGN_OR_RETURN(Tensor wide, Tensor::Allocate(DType::kFloat64, {2}));
  ASSAY_RETURN_IF_ERROR(ExpectBindRefused(*network, {x}, {wide},
                                          "Bind of float64[2] for output y"));
  return ExpectRuns(*network, probe);
}

Status BindOverlap(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Model()));
  std::vector<float> memory = {-1, 2, 3};
  ASSAY_ASSIGN_OR_RETURN(const Tensor x,
                         Tensor::Borrow(DType::kFloat32, {2}, memory.data()));
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor y, Tensor::Borrow(DType::kFloat32, {2}, memory.data() + 1));
  return ExpectBindRefused(*network, {x}, {y},
                           "Bind of an output over half of an input");
}

Status LoadUnknownOperator(Backend& backend, const ProbeOperator& probe) {
  for (const char* node : {"NoSuchOperator(x)", "test.NoSuchOperator(x)"}) {
    ASSAY_RETURN_IF_ERROR(ExpectNodeRefused(backend, probe, node));
  }
  return OkStatus();
}

Status LoadAttributeKind(Backend& backend, const ProbeOperator& probe) {
  return ExpectNodeRefused(backend, probe, "Softmax<axis = \"last\">(x)");
}

Status LoadMissingAttribute(Backend& backend, const ProbeOperator& probe) {
  return ExpectNodeRefused(backend, probe, "Cast(x)");
}

Status LoadTooFewInputs(Backend& backend, const ProbeOperator& probe) {
  return ExpectNodeRefused(backend, probe, "Add(x)");
}

Status LoadElementTypes(Backend& backend, const ProbeOperator& probe) {
  const std::vector<int64_t> integers = {1, 2};
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor tensor,
      Tensor::Of<int64_t>({2}, std::span<const int64_t>(integers)));
  return ExpectModelRefused(
      backend, probe,
      "g (float[2] x, int64[2] i) => (float[2] y) { y = Add(x, i) }",
      {Floats({1, 2}), tensor});
}

Status LoadGarbage(Backend& backend, const ProbeOperator& probe) {
  Model::Parts parts;
  parts.bytes.resize(1021);
  for (size_t i = 0; i < parts.bytes.size(); ++i) {
    parts.bytes[i] = static_cast<std::byte>(i * 167 % 251);
  }
  // A backend that does not look at the bytes may take it.
  const auto loaded =
      backend.Load(std::make_shared<const Model>(std::move(parts)), {});
  if (loaded.ok() && *loaded == nullptr) {
    return Broken("Load was OK and gave no network");
  }
  return ExpectHealthy(backend, probe);
}

Status LoadUnknownSetting(Backend& backend, const ProbeOperator& probe) {
  ASSAY_RETURN_IF_ERROR(ExpectCode(
      Load(backend, probe.Model(), {.settings = {{"no_such_setting", "1"}}})
          .status(),
      StatusCode::kInvalidArgument, "Load with setting no_such_setting"));
  return ExpectHealthy(backend, probe);
}

Status LoadUnknownExtra(Backend& backend, const ProbeOperator& probe) {
  return ExpectRefused(
      Load(backend, probe.Model(), {.extra_outputs = {"no_such_value"}})
          .status(),
      "Load with extra output no_such_value");
}

Status LoadExtraOutput(Backend& backend, const ProbeOperator& probe) {
  ASSAY_ASSIGN_OR_RETURN(const auto network, Load(backend, probe.Chain(),
                                                  {.extra_outputs = {"h"}}));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs,
                         RunOnce(*network, {Floats({-1, 2})}));
  if (outputs.size() != 2 || network->outputs()[1].name != "h") {
    return Broken("found ", outputs.size(), " outputs, wanted y, then h");
  }
  const std::vector<float> h = probe.Values({-1, 2});
  ASSAY_RETURN_IF_ERROR(ExpectFloats(outputs[0], probe.Values(h), "output y"));
  return ExpectFloats(outputs[1], h, "extra output h");
}

}  // namespace assay::contract

// SPDX-License-Identifier: Apache-2.0
//
// Bind refuses wrong inputs. After each refusal the network still runs.

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"

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

}  // namespace assay::contract

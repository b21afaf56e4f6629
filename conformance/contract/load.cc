// SPDX-License-Identifier: Apache-2.0
//
// Load refuses broken models, and obeys its options.

#include <cstring>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"
#include "framework/graph/model_text.h"

namespace assay::contract {

Status LoadUnknownOperator(Backend& backend) {
  for (const char* text :
       {"g (float[2] x) => (float[2] y) { y = NoSuchOperator(x) }",
        "g (float[2] x) => (float[2] y) { y = test.NoSuchOperator(x) }"}) {
    ASSAY_RETURN_IF_ERROR(ExpectModelRefused(backend, text, {Floats({-1, 2})}));
  }
  return OkStatus();
}

Status LoadAttributeKind(Backend& backend) {
  return ExpectModelRefused(
      backend,
      "g (float[2] x) => (float[2] y) { y = Softmax<axis = \"last\">(x) }",
      {Floats({1, 2})});
}

Status LoadMissingAttribute(Backend& backend) {
  return ExpectModelRefused(backend,
                            "g (float[2] x) => (float[2] y) { y = Cast(x) }",
                            {Floats({1, 2})});
}

Status LoadTooFewInputs(Backend& backend) {
  return ExpectModelRefused(backend,
                            "g (float[2] x) => (float[2] y) { y = Add(x) }",
                            {Floats({1, 2})});
}

Status LoadElementTypes(Backend& backend) {
  const std::vector<int64_t> integers = {1, 2};
  ASSAY_ASSIGN_OR_RETURN(
      const Tensor tensor,
      Tensor::Of<int64_t>({2}, std::span<const int64_t>(integers)));
  return ExpectModelRefused(
      backend, "g (float[2] x, int64[2] i) => (float[2] y) { y = Add(x, i) }",
      {Floats({1, 2}), tensor});
}

Status LoadGarbage(Backend& backend) {
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
  return ExpectHealthy(backend);
}

Status LoadUnknownSetting(Backend& backend) {
  LoadOptions options;
  options.settings = {{"no_such_setting", "1"}};
  ASSAY_RETURN_IF_ERROR(ExpectCode(Load(backend, kRelu, options).status(),
                                   StatusCode::kInvalidArgument,
                                   "Load with setting no_such_setting"));
  return ExpectHealthy(backend);
}

Status LoadUnknownExtra(Backend& backend) {
  LoadOptions options;
  options.extra_outputs = {"no_such_value"};
  return ExpectRefused(Load(backend, kRelu, options).status(),
                       "Load with extra output no_such_value");
}

Status LoadExtraOutput(Backend& backend) {
  LoadOptions options;
  options.extra_outputs = {"h"};
  ASSAY_ASSIGN_OR_RETURN(
      const auto network,
      Load(backend,
           "g (float[2] x) => (float[2] y) { h = Add(x, x) y = Relu(h) }",
           options));
  ASSAY_ASSIGN_OR_RETURN(const auto outputs,
                         RunOnce(*network, {Floats({-1, 2})}));
  if (outputs.size() != 2 || network->outputs()[1].name != "h") {
    return Broken("found ", outputs.size(), " outputs, wanted y, then h");
  }
  ASSAY_RETURN_IF_ERROR(ExpectFloats(outputs[0], {0, 4}, "output y"));
  return ExpectFloats(outputs[1], {-2, 4}, "extra output h");
}

}  // namespace assay::contract

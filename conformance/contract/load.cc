// SPDX-License-Identifier: Apache-2.0
//
// Load refuses broken models, and obeys its options.

#include <cstring>

#include "conformance/contract/cases.h"
#include "conformance/contract/subject.h"
#include "framework/graph/model_text.h"

namespace assay::contract {

Status LoadUnknownOperator(Backend& backend, const ProbeOperator& probe) {
  for (const char* text :
       {"g (float[2] x) => (float[2] y) { y = NoSuchOperator(x) }",
        "g (float[2] x) => (float[2] y) { y = test.NoSuchOperator(x) }"}) {
    ASSAY_RETURN_IF_ERROR(
        ExpectModelRefused(backend, probe, text, {Floats({-1, 2})}));
  }
  return OkStatus();
}

Status LoadAttributeKind(Backend& backend, const ProbeOperator& probe) {
  return ExpectModelRefused(
      backend, probe,
      "g (float[2] x) => (float[2] y) { y = Softmax<axis = \"last\">(x) }",
      {Floats({1, 2})});
}

Status LoadMissingAttribute(Backend& backend, const ProbeOperator& probe) {
  return ExpectModelRefused(backend, probe,
                            "g (float[2] x) => (float[2] y) { y = Cast(x) }",
                            {Floats({1, 2})});
}

Status LoadTooFewInputs(Backend& backend, const ProbeOperator& probe) {
  return ExpectModelRefused(backend, probe,
                            "g (float[2] x) => (float[2] y) { y = Add(x) }",
                            {Floats({1, 2})});
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
  LoadOptions options;
  options.settings = {{"no_such_setting", "1"}};
  ASSAY_RETURN_IF_ERROR(ExpectCode(
      Load(backend, probe.Model(), options).status(),
      StatusCode::kInvalidArgument, "Load with setting no_such_setting"));
  return ExpectHealthy(backend, probe);
}

Status LoadUnknownExtra(Backend& backend, const ProbeOperator& probe) {
  LoadOptions options;
  options.extra_outputs = {"no_such_value"};
  return ExpectRefused(Load(backend, probe.Model(), options).status(),
                       "Load with extra output no_such_value");
}

Status LoadExtraOutput(Backend& backend, const ProbeOperator& probe) {
  LoadOptions options;
  options.extra_outputs = {"h"};
  ASSAY_ASSIGN_OR_RETURN(const auto network,
                         Load(backend, probe.Chain(), options));
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

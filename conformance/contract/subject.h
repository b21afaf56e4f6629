// SPDX-License-Identifier: Apache-2.0
//
// Tools for the contract's cases: models from text, float tensors, and checks
// that give a Status.

#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/contract/probe.h"
#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::contract {

/// The promise is broken: what was found and wanted.
template <class... Parts>
Status Broken(const Parts&... parts) {
  return FailedPrecondition(parts...);
}

Result<std::unique_ptr<Network>> Load(Backend& backend, std::string_view text,
                                      const LoadOptions& options = {});

/// A float32 tensor; without a shape it has one axis.
Value Floats(const std::vector<float>& elements);
Value Floats(const Shape& shape, const std::vector<float>& elements);

/// Numbers in memory that the backend's process sees, too: what it reads or
/// writes beside a part of them shows.
Result<std::shared_ptr<float>> SharedFloats(const std::vector<float>& numbers);

/// A tensor of such memory between two numbers; all are `number`.
struct Fenced {
  std::shared_ptr<float> memory;
  Tensor tensor;
};
Result<Fenced> FencedFloats(int64_t extent, float number);

/// Forward and Synchronize.
Status RunBound(Network& network, Binding& binding);

/// The outputs of a fresh binding after one run.
Result<std::vector<Value>> RunOnce(Network& network,
                                   const std::vector<Value>& inputs);

/// The value is float32 with these elements; NaN equals NaN.
Status ExpectFloats(const Value& got, const std::vector<float>& want,
                    std::string_view what);

/// `status` has this code; broken otherwise.
Status ExpectCode(const Status& status, StatusCode code, std::string_view what);

/// `status` is no success.
Status ExpectRefused(const Status& status, std::string_view what);

/// The backend refuses the text's model at Load, or at Bind of `inputs`, and
/// runs the probe's thereafter.
Status ExpectModelRefused(Backend& backend, const ProbeOperator& probe,
                          std::string_view text,
                          const std::vector<Value>& inputs);

/// The model of the probe gives what it should.
Status ExpectHealthy(Backend& backend, const ProbeOperator& probe);

}  // namespace assay::contract

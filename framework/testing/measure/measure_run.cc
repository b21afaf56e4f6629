// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/backend/exception.h"
#include "framework/core/value_walk.h"
#include "framework/testing/host/runs.h"
#include "framework/testing/measure/measure.h"

namespace assay::measure {
namespace {

using Clock = std::chrono::steady_clock;

int64_t MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                               start)
      .count();
}

// The boundary at which exceptions of a backend end.
template <class Call>
Status Guarded(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return backend::StatusOfException("the backend");
  }
}

Result<Tensor> CopyOf(const Tensor& tensor) {
  if (tensor.data() == nullptr && tensor.byte_size() > 0) {
    return Internal("the backend returned ", tensor.Signature(),
                    " without memory");
  }
  return tensor.Clone();
}

Result<std::vector<Value>> CopiesOf(std::span<const Value> values) {
  std::vector<Value> copies(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(copies[i], MapTensors(values[i], CopyOf));
  }
  return copies;
}

// Distinct executors in the order in which they first ran, joined by "+".
void ReadPlacement(Network& network, Observation& seen) {
  const Placement* placement = network.placement();
  if (placement == nullptr) return;
  std::vector<std::string> executors;
  for (PlacedNode& node : placement->Placed()) {
    seen.via_function = seen.via_function || !node.function.empty();
    if (std::ranges::find(executors, node.executor) == executors.end()) {
      executors.push_back(std::move(node.executor));
    }
  }
  for (const std::string& executor : executors) {
    if (!seen.placement.empty()) seen.placement += '+';
    seen.placement += executor;
  }
}

Status Fetch(Network& network, const Binding& binding, Observation& seen) {
  ASSAY_ASSIGN_OR_RETURN(seen.outputs, CopiesOf(binding.outputs()));
  for (const ValueInfo& output : network.outputs()) {
    seen.output_names.push_back(output.name);
  }
  ReadPlacement(network, seen);
  return OkStatus();
}

// Bind, Forward and fetch; seen.stage says how far it came.
Status BindAndRun(Network& network, std::span<const Value> inputs,
                  std::span<const Value> outputs, std::vector<Value>* held,
                  Observation& seen) {
  seen.stage = Stage::kBind;
  ASSAY_ASSIGN_OR_RETURN(const host::FirstRun first,
                         host::BindAndRun(network, inputs, outputs));
  if (first.binding == nullptr) return Internal("the backend bound nothing");
  const Binding& binding = *first.binding;
  seen.stage = Stage::kForward;
  ASSAY_RETURN_IF_ERROR(first.status);
  seen.stage = Stage::kFetch;
  ASSAY_RETURN_IF_ERROR(Fetch(network, binding, seen));
  if (held != nullptr) {
    held->assign(binding.outputs().begin(), binding.outputs().end());
  }
  return OkStatus();
}

}  // namespace

Observation RunLoaded(Network& network, std::span<const Value> inputs,
                      std::span<const Value> outputs,
                      std::vector<Value>* held) {
  Observation seen;
  const auto start = Clock::now();
  seen.status =
      Guarded([&] { return BindAndRun(network, inputs, outputs, held, seen); });
  seen.run_us = MicrosecondsSince(start);
  return seen;
}

Observation Run(Backend& backend, std::shared_ptr<const Model> model,
                std::span<const Value> inputs, const LoadOptions& options,
                std::unique_ptr<Network>* loaded) {
  std::unique_ptr<Network> network;
  const auto start = Clock::now();
  const Status status = Guarded([&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(network, backend.Load(std::move(model), options));
    if (network == nullptr) return Internal("the backend loaded nothing");
    return OkStatus();
  });
  const int64_t load_us = MicrosecondsSince(start);
  Observation seen;
  if (status.ok()) {
    seen = RunLoaded(*network, inputs, {});
  } else {
    seen.status = status;
    seen.stage = Stage::kLoad;
  }
  seen.load_us = load_us;
  if (loaded != nullptr) *loaded = std::move(network);
  return seen;
}

}  // namespace assay::measure

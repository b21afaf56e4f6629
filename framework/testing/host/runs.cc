// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/runs.h"

#include <time.h>

#include <algorithm>

#include "framework/backend/exception.h"
#include "framework/backend/executor.h"
#include "framework/backend/network_interfaces.h"
#include "framework/core/value_walk.h"

namespace assay::host {

namespace {

/// Processor time of this thread: other work on the machine costs none of it.
std::chrono::nanoseconds ThreadTime() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) +
         std::chrono::nanoseconds(spent.tv_nsec);
}

Result<Tensor> CopyOf(const Tensor& tensor) {
  if (tensor.data() == nullptr && tensor.byte_size() > 0) {
    return Internal("the backend returned ", tensor.Signature(),
                    " without memory");
  }
  return tensor.Clone();
}

Pulled Pull(Network& network, Binding& binding, const BackwardAsk& ask) {
  Pulled pulled;
  const auto start = std::chrono::steady_clock::now();
  try {
    Differentiable* const differentiable = network.differentiable();
    pulled.gradients =
        differentiable == nullptr
            ? FailedPrecondition("the network gives no gradients")
            : differentiable->Backward(binding, ask.cotangents, ask.targets);
  } catch (...) {
    pulled.gradients = backend::StatusOfException("the backend");
  }
  pulled.took = std::chrono::steady_clock::now() - start;
  return pulled;
}

}  // namespace

Status Fill(std::span<const Value> memory, std::span<const Value> values) {
  if (memory.size() != values.size()) {
    return InvalidArgument("found ", values.size(), " values to fill ",
                           memory.size(), " tensors with");
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].tensor() == nullptr || values[i].tensor() == nullptr ||
        memory[i].tensor()->dtype() != values[i].tensor()->dtype() ||
        memory[i].tensor()->shape() != values[i].tensor()->shape()) {
      return InvalidArgument("value ", i, " does not fit into its memory");
    }
    Tensor to = *memory[i].tensor();
    if (to.byte_size() == 0) continue;
    std::ranges::copy(values[i].tensor()->bytes(), to.mutable_data());
  }
  return OkStatus();
}

Result<std::vector<Value>> CopiesOf(std::span<const Value> values) {
  std::vector<Value> copies(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(copies[i], MapTensors(values[i], CopyOf));
  }
  return copies;
}

Result<FirstRun> BindAndRun(Network& network, std::span<const Value> inputs,
                            std::span<const Value> outputs) {
  if (auto* const remote = dynamic_cast<InOneCall*>(&network)) {
    return remote->BindAndRun(inputs, outputs);
  }
  FirstRun first;
  ASSAY_ASSIGN_OR_RETURN(first.binding, network.Bind(inputs, outputs));
  if (first.binding == nullptr) return first;
  try {
    first.status = Executor(network).Run(*first.binding);
  } catch (...) {
    first.status = backend::StatusOfException("the backend");
  }
  return first;
}

Result<std::chrono::nanoseconds> RunMany(Network& network, Binding& binding,
                                         int64_t count, const SeesRun& sees) {
  if (auto* const remote = dynamic_cast<InOneCall*>(&network)) {
    return remote->RunMany(binding, count, sees);
  }
  const auto start = ThreadTime();
  for (int64_t i = 0; i < count; ++i) {
    ASSAY_RETURN_IF_ERROR(Executor(network).Run(binding));
    if (!sees(binding.outputs())) break;
  }
  return ThreadTime() - start;
}

Status RunEach(Network& network, Binding& binding, const Refill& refill,
               const SeesRun& sees) {
  if (auto* const remote = dynamic_cast<InOneCall*>(&network)) {
    return remote->RunEach(binding, refill, sees);
  }
  for (const std::vector<Value>& values : refill.runs) {
    ASSAY_RETURN_IF_ERROR(Fill(refill.memory, values));
    ASSAY_RETURN_IF_ERROR(Executor(network).Run(binding));
    if (!sees(binding.outputs())) break;
  }
  return OkStatus();
}

std::vector<Pulled> BackwardEach(Network& network, Binding& binding,
                                 std::span<const BackwardAsk> asks) {
  if (auto* const remote = dynamic_cast<InOneCall*>(&network)) {
    return remote->BackwardEach(binding, asks);
  }
  std::vector<Pulled> all;
  for (const BackwardAsk& ask : asks) {
    all.push_back(Pull(network, binding, ask));
    if (!all.back().gradients.ok()) break;
  }
  return all;
}

}  // namespace assay::host

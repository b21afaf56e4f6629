// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/server_interfaces.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace assay::host {
namespace {

Status OfParameters(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  Parameters* const parameters = network->parameters();
  if (parameters == nullptr) return Internal("no parameters any more");
  if (call == wire::Call::kListParameters) {
    out->PutAll(std::as_const(*parameters).List());
    return OkStatus();
  }
  const std::string name = in->Text();
  if (call == wire::Call::kReadParameter) {
    ASSAY_ASSIGN_OR_RETURN(const Tensor tensor,
                           std::as_const(*parameters).Read(name));
    out->Put(tensor);
    return OkStatus();
  }
  const auto tensor = in->Read<Tensor>();
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return parameters->Write(name, tensor);
}

Status OfNativeStep(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  NativeStep* const native = network->native_step();
  if (native == nullptr) return Internal("no optimizer any more");
  if (call == wire::Call::kOptimizers) {
    out->PutAll(std::as_const(*native).Optimizers());
    return OkStatus();
  }
  const std::string optimizer = in->Text();
  std::map<std::string, double> hyperparameters;
  for (uint64_t n = in->Number(); n > 0 && !in->faulty(); --n) {
    std::string name = in->Text();
    hyperparameters[std::move(name)] = in->Read<double>();
  }
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return native->Configure(optimizer, hyperparameters);
}

Status OfDraws(Network* network, wire::Reader* in) {
  Draws* const draws = network->draws();
  if (draws == nullptr) return Internal("no seed is taken any more");
  const uint64_t run_seed = in->Number();
  const auto step = static_cast<int64_t>(in->Number());
  ASSAY_RETURN_IF_ERROR(in->Fault());
  return draws->DrawFrom(run_seed, step);
}

}  // namespace

uint64_t OfferedBy(Network& network) {
  uint64_t offered = 0;
  if (network.differentiable() != nullptr) offered |= wire::kDifferentiable;
  if (network.parameters() != nullptr) offered |= wire::kParameters;
  if (network.native_step() != nullptr) offered |= wire::kNativeStep;
  if (network.draws() != nullptr) offered |= wire::kDraws;
  if (network.placement() != nullptr) offered |= wire::kPlacement;
  if (network.exact() != nullptr) offered |= wire::kExact;
  return offered;
}

Status OfInterfaces(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  if (call == wire::Call::kDrawFrom) return OfDraws(network, in);
  const bool steps =
      call == wire::Call::kOptimizers || call == wire::Call::kConfigure;
  return steps ? OfNativeStep(network, call, in, out)
               : OfParameters(network, call, in, out);
}

}  // namespace assay::host

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

}  // namespace

Status OfInterfaces(Network* network, wire::Call call, wire::Reader* in,
                    wire::Writer* out) {
  const bool steps =
      call == wire::Call::kOptimizers || call == wire::Call::kConfigure;
  return steps ? OfNativeStep(network, call, in, out)
               : OfParameters(network, call, in, out);
}

}  // namespace assay::host

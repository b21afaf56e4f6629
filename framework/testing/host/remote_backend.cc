// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/host/remote_backend.h"

#include "framework/testing/host/model_crossing.h"
#include "framework/testing/host/remote_network.h"

namespace assay::host {

Result<Probe> RemoteBackend::InspectAs(const Settings& settings) {
  LoadOptions options;
  options.settings = settings;
  wire::Writer call;
  call.Put(options);
  ASSAY_ASSIGN_OR_RETURN(const std::string answer,
                         link_.Ask(wire::Call::kInspect, call));
  wire::Reader in(answer);
  const auto status = in.Read<Status>();
  Probe probe;
  if (status.ok()) {
    probe.version = in.Text();
    probe.device = in.Text();
    probe.isa = in.ReadAll<std::string>();
  }
  if (!in.Fault().ok()) return link_.Refuse(in.Fault());
  if (!status.ok()) return status;
  return probe;
}

Result<std::unique_ptr<Network>> RemoteBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const ModelCrossing crossing,
                         ModelCrossing::Of(*model));
  const uint64_t number = link_.NewNumber();
  wire::Writer call = crossing.Call();
  call.Put(number);
  crossing.Put(&call);
  call.Put(options);
  ASSAY_ASSIGN_OR_RETURN(const std::string answer,
                         link_.Ask(wire::Call::kLoad, call));
  wire::Reader in(answer);
  const auto status = in.Read<Status>();
  if (!status.ok()) {
    return in.Fault().ok() ? status : link_.Refuse(in.Fault());
  }
  const bool loaded = in.Number() != 0;
  Declared declared;
  if (loaded) {
    declared.inputs = in.ReadAll<ValueInfo>();
    declared.outputs = in.ReadAll<ValueInfo>();
    declared.offered = in.Number();
    declared.placed = in.Text();
  }
  if (!in.Fault().ok()) return link_.Refuse(in.Fault());
  if (!loaded) return std::unique_ptr<Network>();
  return std::unique_ptr<Network>(
      std::make_unique<RemoteNetwork>(link_, number, std::move(declared)));
}

}  // namespace assay::host

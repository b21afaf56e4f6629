// SPDX-License-Identifier: Apache-2.0
//
// The backend `onednn`: oneDNN primitives on the CPU behind EagerBackend.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/onednn/ops/families.h"
#include "backends/onednn/primitive/device.h"
#include "framework/backend/registry.h"

namespace assay::onednn {

class OneDnn : public EagerBackend {
 public:
  OneDnn() : device_(std::make_shared<Device>()) {
    AddFamily(MakeAdapter());
    for (const auto make :
         {MakeBinary, MakeConvolution, MakeEltwise, MakeInteger, MakeMatMul,
          MakeMovement, MakeNormalization, MakePooling, MakeQuantization,
          MakeReduction, MakeResampling, MakeRnn, MakeSlicing}) {
      AddFamily(make(device_));
    }
  }

  std::string_view name() const override { return "onednn"; }

  /// Without the sets in force: whoever asks oneDNN for them fixes its limit.
  Result<Probe> Inspect() override {
    ASSAY_RETURN_IF_ERROR(device_->Start());
    return Probe{.version = RuntimeVersion(), .device = "cpu"};
  }

  Result<Probe> InspectAs(const assay::Settings& settings) override {
    ASSAY_ASSIGN_OR_RETURN(Probe probe, Inspect());
    ASSAY_RETURN_IF_ERROR(LimitIsa(settings));
    probe.isa = IsasInForce();
    return probe;
  }

  Result<std::unique_ptr<Network>> Load(std::shared_ptr<const Model> model,
                                        const LoadOptions& options) override {
    ASSAY_RETURN_IF_ERROR(device_->Start());
    ASSAY_RETURN_IF_ERROR(ReadThreads(options.settings).status());
    ASSAY_RETURN_IF_ERROR(LimitIsa(options.settings));
    return EagerBackend::Load(std::move(model), options);
  }

 protected:
  std::vector<std::string> Settings() const override {
    return {"isa", "threads"};
  }

 private:
  std::shared_ptr<Device> device_;
};

ASSAY_REGISTER_BACKEND(OneDnn);

}  // namespace assay::onednn

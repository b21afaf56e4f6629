// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "framework/backend/eager/eager.h"
#include "framework/backend/registry.h"

using namespace assay;

class Activations : public assay::OperatorVisitor {
  assay::Result<assay::Kernel> Visit(const op::Relu& op,
                                     assay::LoadContext& load) override {
    if (load.dtype(op.x) != assay::DType::kFloat32) {
      return assay::Unsupported(assay::Reason::kDType, "Relu of ",
                                load.dtype(op.x));
    }
    const auto forward = [op](assay::KernelContext& run) -> Status {
      const assay::Tensor& x = run.input(op.x);
      ASSAY_ASSIGN_OR_RETURN(
          assay::Tensor* const y,
          run.Output(op.y, assay::DType::kFloat32, x.shape()));
      std::ranges::transform(x.elements<float>(),
                             y->mutable_elements<float>().begin(),
                             [](float v) { return v < 0 ? 0 : v; });
      return assay::OkStatus();
    };
    const auto backward = [op](assay::GradientContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(assay::Tensor* const dx, run.Gradient(op.x));
      std::ranges::transform(run.input(op.x).elements<float>(),
                             run.cotangent(op.y)->elements<float>(),
                             dx->mutable_elements<float>().begin(),
                             [](float v, float d) { return v > 0 ? d : 0; });
      return assay::OkStatus();
    };
    return assay::Kernel{forward, backward};
  }
};

class ExamplePlugin : public assay::EagerBackend {
 public:
  ExamplePlugin() { AddFamily(std::make_unique<Activations>()); }
  std::string_view name() const override { return "example_plugin"; }
  assay::Result<assay::Probe> Inspect() override {
    return assay::Probe{"1.0", "cpu"};
  }
};

ASSAY_REGISTER_BACKEND(ExamplePlugin);

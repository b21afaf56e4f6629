// SPDX-License-Identifier: Apache-2.0
#include <assay/backend.h>
#include <assay/kernels.h>

#include <algorithm>

using namespace assay;

class Activations : public OperatorVisitor {
  Result<Kernel> Visit(const op::Relu& op, LoadContext& load) override {
    if (load.dtype(op.x) != DType::kFloat32) {
      return Unsupported(Reason::kDType, "Relu of ", load.dtype(op.x));
    }
    const auto forward = [op](KernelContext& run) -> Status {
      const Tensor& x = run.input(op.x);
      ASSAY_ASSIGN_OR_RETURN(Tensor* const y,
                             run.Output(op.y, DType::kFloat32, x.shape()));
      std::ranges::transform(x.elements<float>(),
                             y->mutable_elements<float>().begin(),
                             [](float v) { return v < 0 ? 0 : v; });
      return OkStatus();
    };
    const auto backward = [op](GradientContext& run) -> Status {
      ASSAY_ASSIGN_OR_RETURN(Tensor* const dx, run.Gradient(op.x));
      std::ranges::transform(run.input(op.x).elements<float>(),
                             run.cotangent(op.y)->elements<float>(),
                             dx->mutable_elements<float>().begin(),
                             [](float v, float d) { return v > 0 ? d : 0; });
      return OkStatus();
    };
    return Kernel{forward, backward};
  }
};

class Arithmetic : public OperatorVisitor {
  Result<Kernel> Visit(const op::Add& op, LoadContext& load) override {
    if (load.dtype(op.a) != DType::kFloat32) {
      return Unsupported(Reason::kDType, "Add of ", load.dtype(op.a));
    }
    const auto forward = [op](KernelContext& run) -> Status {
      const Tensor& a = run.input(op.a);
      const Tensor& b = run.input(op.b);
      ASSAY_ASSIGN_OR_RETURN(const auto axes,
                             kernels::BroadcastShapes(a.shape(), b.shape()));
      ASSAY_ASSIGN_OR_RETURN(Tensor* const c,
                             run.Output(op.c, DType::kFloat32, axes.shape));
      kernels::ForEachElement(
          axes, [x = a.elements<float>(), y = b.elements<float>(),
                 z = c->mutable_elements<float>()](auto k, auto i, auto j) {
            z[k] = x[i] + y[j];
          });
      return OkStatus();
    };
    return Kernel{forward};
  }
};

class ExamplePlugin : public EagerBackend {
 public:
  ExamplePlugin() {
    AddFamily(std::make_unique<Activations>());
    AddFamily(std::make_unique<Arithmetic>());
  }
  std::string_view name() const override { return "example_plugin"; }
  Result<Probe> Inspect() override { return Probe{"1.0", "cpu"}; }
};

ASSAY_REGISTER_BACKEND(ExamplePlugin);

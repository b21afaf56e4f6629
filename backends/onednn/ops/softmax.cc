// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax along one axis.
#include <memory>
#include <utility>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

class SoftmaxFamily : public Family {
 public:
  using Family::Family;
  Result<Kernel> Visit(const op::LogSoftmax& op, LoadContext& load) override {
    return Apply(load, op.input, op.output, op.axis, algorithm::softmax_log);
  }
  Result<Kernel> Visit(const op::Softmax& op, LoadContext& load) override {
    return Apply(load, op.input, op.output, op.axis,
                 algorithm::softmax_accurate);
  }

 private:
  /// The axes before and behind are one axis each; a last axis goes without
  /// the latter, which is the library's fast form.
  Result<Kernel> Apply(LoadContext& load, Input x, Output y, int64_t at,
                       algorithm kind) const {
    return Build(load, [=](ChainBuilder& chain) -> Status {
      ASSAY_ASSIGN_OR_RETURN(const TensorView view, chain.View(x, CheckFloat));
      ASSAY_ASSIGN_OR_RETURN(const int axis,
                             kernels::NormalizeAxis(at, view.shape.rank()));
      const memory::dims& dims = view.shape.dims();
      const auto middle = static_cast<size_t>(axis);
      memory::dims extents = {kernels::Product(dims, 0, middle), dims[middle]};
      if (middle + 1 < dims.size()) {
        extents.push_back(kernels::Product(dims, middle + 1, dims.size()));
      }
      const memory::desc desc = view.As(extents);
      chain.Add<dnnl::softmax_forward>(
          {chain.engine(), kInference, kind, desc, desc, 1,
           ChainBuilder::attr()},
          {{DNNL_ARG_SRC, chain.In(x, desc)},
           {DNNL_ARG_DST, chain.Out(y, view, desc)}});
      return OkStatus();
    });
  }
};

}  // namespace

FamilyPointer MakeSoftmax(std::shared_ptr<const Device> device) {
  return std::make_unique<SoftmaxFamily>(std::move(device));
}

}  // namespace assay::onednn

// SPDX-License-Identifier: Apache-2.0
//
// Softmax and LogSoftmax along one axis.
#include <memory>
#include <utility>

#include "backends/onednn/ops/families.h"

namespace assay::onednn {
namespace {

using dnnl::algorithm;

/// The axes before and behind are one axis each; a last axis goes without the
/// latter, which is the library's fast form.
template <class Op, algorithm kKind>
Status AddSoftmax(const Op& op, ChainBuilder& chain) {
  ASSAY_ASSIGN_OR_RETURN(const TensorView view,
                         chain.View(op.input, CheckFloat));
  ASSAY_ASSIGN_OR_RETURN(const int axis,
                         kernels::NormalizeAxis(op.axis, view.shape.rank()));
  const memory::dims& dims = view.shape.dims();
  const auto middle = static_cast<size_t>(axis);
  memory::dims extents = {kernels::Product(dims, 0, middle), dims[middle]};
  if (middle + 1 < dims.size()) {
    extents.push_back(kernels::Product(dims, middle + 1, dims.size()));
  }
  const memory::desc desc = view.As(extents);
  chain.Add<dnnl::softmax_forward>(
      {chain.engine(), chain.prop(), kKind, desc, desc, 1,
       ChainBuilder::attr()},
      {{DNNL_ARG_SRC, chain.In(op.input, desc)},
       {DNNL_ARG_DST, chain.Out(op.output, view, desc)}});
  return OkStatus();
}

}  // namespace

FamilyPointer MakeSoftmax(std::shared_ptr<const Device> device) {
  return FamilyOf(std::move(device),
                  AddSoftmax<op::LogSoftmax, algorithm::softmax_log>,
                  AddSoftmax<op::Softmax, algorithm::softmax_accurate>);
}

}  // namespace assay::onednn

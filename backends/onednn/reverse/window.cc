// SPDX-License-Identifier: Apache-2.0
//
// Backward of pooling and resampling.
#include <vector>

#include "backends/onednn/reverse/rules.h"

namespace assay::onednn {

Status ReversePooling(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::pooling_forward>(entry);
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  ChainBuilder& chain = reverse.chain();
  reverse.Give(entry.at(DNNL_ARG_SRC), [&](const memory& dx) {
    std::vector<Argument> arguments = {{DNNL_ARG_DIFF_DST, dy},
                                       {DNNL_ARG_DIFF_SRC, dx}};
    const memory workspace = entry.at(DNNL_ARG_WORKSPACE);
    if (workspace.get(true) != nullptr) {
      arguments.push_back({DNNL_ARG_WORKSPACE, workspace});
    }
    chain.Add<dnnl::pooling_backward>(
        {chain.engine(), forward.get_algorithm(), dx.get_desc(), dy.get_desc(),
         forward.get_strides(), forward.get_kernel(), forward.get_dilations(),
         forward.get_padding_l(), forward.get_padding_r(), forward,
         ChainBuilder::attr()},
        arguments);
  });
  return OkStatus();
}

Status ReverseResampling(Reverse& reverse, const Taped& entry) {
  const auto& forward = DescOf<dnnl::resampling_forward>(entry);
  const memory dy = reverse.Cotangent(entry.at(DNNL_ARG_DST));
  ChainBuilder& chain = reverse.chain();
  reverse.Give(entry.at(DNNL_ARG_SRC), [&](const memory& dx) {
    chain.Add<dnnl::resampling_backward>(
        {chain.engine(), forward.get_algorithm(), dx.get_desc(), dy.get_desc(),
         forward, ChainBuilder::attr()},
        {{DNNL_ARG_DIFF_DST, dy}, {DNNL_ARG_DIFF_SRC, dx}});
  });
  return OkStatus();
}

}  // namespace assay::onednn

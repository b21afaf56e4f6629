// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/kernel/pointwise.h"

namespace assay::reference {

BackwardFunction MapBackward(SlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Loaded<double> dy(FlowInto(run, kResult));
    ASSAY_ASSIGN_OR_RETURN(auto dx, GradientOf<double>(run, kFirst));
    if (dy.data() == nullptr || dx.data() == nullptr) return OkStatus();
    const Loaded<double> x(run.input(kFirst));
    loop(x.data(), dy.data(), dx.data(), dx.size());
    return OkStatus();
  };
}

BackwardFunction PairBackward(PairSlopeLoop loop) {
  return [loop = std::move(loop)](GradientContext& run) -> Status {
    const Tensor& cotangent = FlowInto(run, kResult);
    const Loaded<double> dy(cotangent);
    if (dy.data() == nullptr) return OkStatus();
    const Tensor& a = run.input(kFirst);
    const Tensor& b = run.input(kSecond);
    ASSAY_ASSIGN_OR_RETURN(auto da, GradientOf<double>(run, kFirst));
    ASSAY_ASSIGN_OR_RETURN(auto db, GradientOf<double>(run, kSecond));
    const Loaded<double> va(a);
    const Loaded<double> vb(b);
    loop(PairNest(a.shape(), b.shape(), cotangent.shape()), va.data(),
         vb.data(), dy.data(), da.data(), db.data());
    return OkStatus();
  };
}

}  // namespace assay::reference

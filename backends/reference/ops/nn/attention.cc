// SPDX-License-Identifier: Apache-2.0
//
// Attention (attending.h). Scores are computed in the scalar and each result is
// rounded once, so that softmax_precision asks for no more than float64 where
// inputs are narrower.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/nn/attending.h"
#include "backends/reference/ops/nn/attention_backward.h"
#include "backends/reference/scalar/codec.h"

namespace assay::reference {
namespace {

template <class T>
Status Attend(const op::Attention& op, const SimdLoops<T>* loops,
              KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, AttentionPlan::Of(op, run));
  ASSAY_ASSIGN_OR_RETURN(const auto mask, MaskOf<T>::Of(op, plan, run));
  const DType type = run.input(op.q).dtype();
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.y, type, plan.y.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      Stored<T> present_key,
      Store<T>(run, op.present_key, type, plan.keys.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      Stored<T> present_value,
      Store<T>(run, op.present_value, run.input(op.v).dtype(),
               plan.values.shape()));
  ASSAY_ASSIGN_OR_RETURN(Stored<T> qk, Store<T>(run, op.qk_matmul_output, type,
                                                plan.ScoresShape()));
  AttentionInputs<T> inputs(op, run);
  const Attending<T> attending =
      inputs.Attend(op, plan, mask, loops, present_key.data(),
                    present_value.data(), y.data());
  std::fill_n(y.data(), y.size(), T(0));
  if (y.size() == 0 && qk.size() == 0) return OkStatus();
  const int64_t size = plan.q.rows * plan.keys.rows;
  std::vector<T> scores(static_cast<size_t>(size));
  for (int64_t b = 0; b < plan.q.batch; ++b) {
    for (int64_t h = 0; h < plan.q.heads; ++h) {
      T* const noted = qk.data() == nullptr
                           ? nullptr
                           : qk.data() + (b * plan.q.heads + h) * size;
      attending.RunHead(b, h, scores.data(), noted);
    }
  }
  return OkStatus();
}

Result<Kernel> MakeAttention(const op::Attention& op, LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckAttention(op));
  return Dispatch(load, op.q, kFloats, [&]<class S>() -> Kernel {
    using T = Wide<S>;
    Kernel kernel{
        .forward = [op, loops = LoopsOf<T>(load)](KernelContext& run) {
          return Attend<T>(op, loops, run);
        }};
    if constexpr (std::floating_point<T>) {
      kernel.backward = std::bind_front(&AttendBackward, op, LoopsOf<T>(load));
    }
    return kernel;
  });
}

}  // namespace

Family AttentionFamily() { return FamilyOf(MakeAttention); }

}  // namespace assay::reference

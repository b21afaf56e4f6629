// SPDX-License-Identifier: Apache-2.0
//
// RotaryEmbedding. Source: the page of RotaryEmbedding-23 (Su et al. 2021),
// whose names are kept.

#include <algorithm>

#include "backends/reference/families.h"
#include "backends/reference/ops/nn/heads.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

struct RotaryPlan {
  Heads x;
  int64_t half = 0;       // pairs of numbers that are rotated in each row
  int64_t positions = 0;  // rows of the caches
};

/// The caches are [positions, half] where position_ids are given, else one row
/// for each row of a head.
Result<RotaryPlan> PlanRotary(const op::RotaryEmbedding& op,
                              const KernelContext& run) {
  const Shape& x = run.input(op.x).shape();
  RotaryPlan plan;
  // The heads of an input of four axes are its own.
  ASSAY_ASSIGN_OR_RETURN(
      plan.x,
      Heads::Of("X", x,
                {"num_heads", x.rank() == 4 ? std::nullopt : op.num_heads}));
  const int64_t rotated =
      op.rotary_embedding_dim != 0 ? op.rotary_embedding_dim : plan.x.size;
  if (rotated < 0 || rotated > plan.x.size || rotated % 2 != 0) {
    return InvalidArgument(
        op.rotary_embedding_dim != 0 ? "rotary_embedding_dim is "
                                     : "the head size of input X is ",
        rotated, ", wanted an even number in [0, ", plan.x.size, "]");
  }
  plan.half = rotated / 2;
  const Shape& cosines = run.input(op.cos_cache).shape();
  const Shape& sines = run.input(op.sin_cache).shape();
  const Shape& ids = run.input(op.position_ids).shape();
  plan.positions = plan.x.batch * plan.x.rows;
  Shape wanted = {plan.x.batch, plan.x.rows, plan.half};
  if (op.position_ids.present) {
    plan.positions = cosines.rank() == 2 ? cosines[0] : 0;
    wanted = {plan.positions, plan.half};
    const Shape wanted_ids = {plan.x.batch, plan.x.rows};
    if (ids != wanted_ids) {
      return InvalidArgument("input position_ids of shape ", ids.ToString(),
                             ", wanted ", wanted_ids.ToString());
    }
  }
  if (cosines != wanted || sines != wanted) {
    return InvalidArgument("inputs cos_cache and sin_cache of shapes ",
                           cosines.ToString(), " and ", sines.ToString(),
                           ", wanted ", wanted.ToString());
  }
  return plan;
}

// real = cos * x1 - sin * x2, imag = sin * x1 + cos * x2, of the two halves of
// what is rotated, or of its even and odd numbers where interleaved.
template <class T>
void Rotate(const T* x, const T* cosine, const T* sine, int64_t half,
            bool interleaved, T* y) {
  const int64_t step = interleaved ? 2 : 1;
  const int64_t apart = interleaved ? 1 : half;
  for (int64_t i = 0; i < half; ++i) {
    const T x1 = x[i * step];
    const T x2 = x[i * step + apart];
    y[i * step] = cosine[i] * x1 - sine[i] * x2;
    y[i * step + apart] = sine[i] * x1 + cosine[i] * x2;
  }
}

template <class T>
Status RotaryEmbedding(const op::RotaryEmbedding& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const RotaryPlan plan, PlanRotary(op, run));
  const Tensor& input = run.input(op.x);
  const Loaded<T> x(input);
  const Loaded<T> cosines(run.input(op.cos_cache));
  const Loaded<T> sines(run.input(op.sin_cache));
  const Loaded<int64_t> ids(run.input(op.position_ids));
  for (int64_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= plan.positions) {
      return InvalidArgument("input position_ids has the value ", ids[i],
                             ", wanted one in [0, ", plan.positions, ")");
    }
  }
  ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
                         Store<T>(run, op.y, input.dtype(), input.shape()));
  std::copy_n(x.data(), x.size(), y.data());
  for (int64_t b = 0; b < plan.x.batch; ++b) {
    for (int64_t row = 0; row < plan.x.rows; ++row) {
      const int64_t token = b * plan.x.rows + row;
      const int64_t from =
          (ids.data() == nullptr ? token : ids[token]) * plan.half;
      for (int64_t h = 0; h < plan.x.heads; ++h) {
        const int64_t at = plan.x.At(b, h, row);
        Rotate(x.data() + at, cosines.data() + from, sines.data() + from,
               plan.half, op.interleaved != 0, y.data() + at);
      }
    }
  }
  return OkStatus();
}

}  // namespace

Family RotaryFamily() {
  return FamilyOf(
      Typed(kFloats, []<class T>() { return &RotaryEmbedding<T>; }));
}

}  // namespace assay::reference

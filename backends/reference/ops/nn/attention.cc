// SPDX-License-Identifier: Apache-2.0
//
// Attention (attending.h). Scores are computed in the scalar and each result is
// rounded once, so that softmax_precision asks for no more than float64 where
// inputs are narrower. The gradients run its heads again, in double, and go
// back through their stages.
//
// RotaryEmbedding. Source: the page of RotaryEmbedding-23 (Su et al. 2021),
// whose names are kept.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/nn/attending.h"
#include "backends/reference/ops/nn/attention_plan.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/typed_rows.h"

namespace assay::reference {
namespace {

/// Adds what flows into joined rows to what flows into those of the past and
/// the current ones, each null where it is not wanted. The converse of Join.
void Part(const double* joined, const Heads& past, double* dpast,
          const Heads& current, double* dcurrent) {
  const auto take = [&](const Heads& to, double* flows, int64_t b, int64_t h) {
    for (int64_t i = 0; i < to.rows; ++i, joined += to.size) {
      if (flows == nullptr) continue;
      double* const row = flows + to.At(b, h, i);
      for (int64_t k = 0; k < to.size; ++k) row[k] += joined[k];
    }
  };
  for (int64_t b = 0; b < current.batch; ++b) {
    for (int64_t h = 0; h < current.heads; ++h) {
      take(past, dpast, b, h);
      take(current, dcurrent, b, h);
    }
  }
}

/// Takes what flows into one head back to its queries, keys and values.
struct AttendingBack {
  // `product` and `weights` are the scores of the head before and after all
  // stages, `into_qk` what flows into its scores at the stage asked for, or
  // null.
  void RunHead(int64_t b, int64_t h, const double* product,
               const double* weights, const double* into_qk) {
    const int64_t keys = plan.keys.rows;
    Scratch<double> flows(static_cast<size_t>(keys));
    for (int64_t i = 0; i < plan.q.rows; ++i) {
      const int64_t row = i * keys;
      const double* const qk = into_qk == nullptr ? nullptr : into_qk + row;
      std::ranges::fill(flows, 0.0);
      AddStage(Stage::kSoftmax, qk, flows);
      FromValues(b, h, i, weights + row, flows);
      ThroughSoftmax(weights + row, flows);
      AddStage(Stage::kBiased, qk, flows);
      ToMask(b, h, i, flows);
      AddStage(Stage::kCapped, qk, flows);
      ThroughCap(product + row, flows);
      AddStage(Stage::kProduct, qk, flows);
      ToQueriesAndKeys(b, h, i, flows);
    }
  }

  void AddStage(Stage stage, const double* qk, Scratch<double>& flows) const {
    if (qk == nullptr || stage != forward.asked) return;
    for (size_t j = 0; j < flows.size(); ++j) flows[j] += qk[j];
  }

  void FromValues(int64_t b, int64_t h, int64_t i, const double* weights,
                  Scratch<double>& flows) {
    const double* const into =
        dy == nullptr ? nullptr : dy + plan.y.At(b, h, i);
    if (into == nullptr || !AnyFlow(into, plan.v.size, 1)) return;
    const Heads& heads = forward.values.heads;
    for (size_t j = 0; j < flows.size(); ++j) {
      const int64_t at = heads.At(b, plan.KeyHead(h), static_cast<int64_t>(j));
      const double* const value = forward.values.data + at;
      double sum = 0;
      for (int64_t k = 0; k < plan.v.size; ++k) {
        sum += Flow(into[k], value[k]);
        dvalues[static_cast<size_t>(at + k)] += Flow(into[k], weights[j]);
      }
      // A masked key takes no part.
      if (weights[j] != 0) flows[j] += sum;
    }
  }

  static void ThroughSoftmax(const double* weights, Scratch<double>& flows) {
    double sum = 0;
    for (size_t j = 0; j < flows.size(); ++j) sum += Flow(flows[j], weights[j]);
    for (size_t j = 0; j < flows.size(); ++j) {
      flows[j] = Flow(flows[j] - sum, weights[j]);
    }
  }

  void ToMask(int64_t b, int64_t h, int64_t i, const Scratch<double>& flows) {
    const auto row = forward.mask.At(b, h, i);
    if (row.bias == nullptr || dmask == nullptr) return;
    for (int64_t j = 0; j < row.count; ++j) {
      const double* const bias = row.bias + j * row.step;
      dmask[bias - forward.mask.first()] += flows[static_cast<size_t>(j)];
    }
  }

  void ThroughCap(const double* product, Scratch<double>& flows) const {
    const double cap = forward.op.softcap;
    if (cap == 0) return;
    for (size_t j = 0; j < flows.size(); ++j) {
      const double bent = tanh(product[j] / cap);
      flows[j] = Flow(flows[j], (1 - bent) * (1 + bent));
    }
  }

  void ToQueriesAndKeys(int64_t b, int64_t h, int64_t i,
                        const Scratch<double>& flows) {
    const int64_t at_q = plan.q.At(b, h, i);
    const double* const query = forward.queries.data + at_q;
    for (size_t j = 0; j < flows.size(); ++j) {
      const double flow = flows[j] * forward.scale;
      if (flow == 0) continue;
      const int64_t at =
          forward.keys.heads.At(b, plan.KeyHead(h), static_cast<int64_t>(j));
      const double* const key = forward.keys.data + at;
      for (int64_t k = 0; k < plan.q.size; ++k) {
        if (dq != nullptr) dq[at_q + k] += Flow(flow, key[k]);
        dkeys[static_cast<size_t>(at + k)] += Flow(flow, query[k]);
      }
    }
  }

  const AttentionPlan& plan;
  const Attending<double>& forward;
  const double* dy;
  double* dq;
  double* dmask;
  Scratch<double> dkeys = {};
  Scratch<double> dvalues = {};
};

/// The gradients of all outputs, by all inputs that are wanted, of a node that
/// ran.
Status AttendBackward(const op::Attention& op, const SimdLoops<double>* loops,
                      GradientContext& run) {
  const BackwardInputs given(run, 7);
  ASSAY_ASSIGN_OR_RETURN(const auto plan, AttentionPlan::Of(op, given));
  ASSAY_ASSIGN_OR_RETURN(const auto mask, MaskOf<double>::Of(op, plan, given));
  AttentionInputs<double> inputs(op, given);
  const auto size_of = [](const Heads& heads) {
    return heads.batch * heads.heads * heads.rows * heads.size;
  };
  // Always joined, so that gradients lie alike.
  Scratch<double> keys(static_cast<size_t>(size_of(plan.keys)));
  Scratch<double> values(static_cast<size_t>(size_of(plan.values)));
  Scratch<double> y(static_cast<size_t>(size_of(plan.y)));
  const Attending<double> attending = inputs.Attend(
      op, plan, mask, loops, keys.data(), values.data(), y.data());
  Attending<double> noting = attending;
  noting.asked = Stage::kProduct;
  const Loaded<double> dy(FlowInto(run, op.y));
  const Loaded<double> into_qk(FlowInto(run, op.qk_matmul_output));
  ASSAY_ASSIGN_OR_RETURN(auto dq, GradientOf<double>(run, op.q));
  ASSAY_ASSIGN_OR_RETURN(auto dmask, GradientOf<double>(run, op.attn_mask));
  AttendingBack back{plan,
                     attending,
                     dy.data(),
                     dq.data(),
                     dmask.data(),
                     FlowOrZeros(run, op.present_key, size_of(plan.keys)),
                     FlowOrZeros(run, op.present_value, size_of(plan.values))};
  const int64_t size = plan.q.rows * plan.keys.rows;
  Scratch<double> product(static_cast<size_t>(size));
  Scratch<double> weights(product.size());
  for (int64_t head = 0; size > 0 && head < plan.q.batch * plan.q.heads;
       ++head) {
    const int64_t b = head / plan.q.heads;
    const int64_t h = head % plan.q.heads;
    noting.RunHead(b, h, weights.data(), product.data());
    back.RunHead(
        b, h, product.data(), weights.data(),
        into_qk.data() == nullptr ? nullptr : into_qk.data() + head * size);
  }
  const auto part = [&](const Scratch<double>& joined, Heads past,
                        Input of_past, const Heads& current,
                        Input of_current) -> Status {
    past.rows = plan.past;
    ASSAY_ASSIGN_OR_RETURN(auto dpast, GradientOf<double>(run, of_past));
    ASSAY_ASSIGN_OR_RETURN(auto dcurrent, GradientOf<double>(run, of_current));
    Part(joined.data(), past, dpast.data(), current, dcurrent.data());
    return OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(part(back.dkeys, plan.keys, op.past_key, plan.k, op.k));
  return part(back.dvalues, plan.values, op.past_value, plan.v, op.v);
}

template <class T>
Status Attend(const op::Attention& op, const SimdLoops<T>* loops,
              KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, AttentionPlan::Of(op, run));
  ASSAY_ASSIGN_OR_RETURN(const auto mask, MaskOf<T>::Of(op, plan, run));
  const DType type = run.input(op.q).dtype();
  ASSAY_ASSIGN_OR_RETURN(auto y, Store<T>(run, op.y, type, plan.y.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      auto present_key, Store<T>(run, op.present_key, type, plan.keys.shape()));
  ASSAY_ASSIGN_OR_RETURN(auto present_value, Store<T>(run, op.present_value,
                                                      run.input(op.v).dtype(),
                                                      plan.values.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      auto qk, Store<T>(run, op.qk_matmul_output, type, plan.ScoresShape()));
  AttentionInputs<T> inputs(op, run);
  const Attending<T> attending =
      inputs.Attend(op, plan, mask, loops, present_key.data(),
                    present_value.data(), y.data());
  std::fill_n(y.data(), y.size(), T(0));
  if (y.size() == 0 && qk.size() == 0) return OkStatus();
  const int64_t size = plan.q.rows * plan.keys.rows;
  Scratch<T> scores(static_cast<size_t>(size));
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
    Kernel kernel{.forward = std::bind_front(&Attend<T>, op, LoopsOf<T>(load))};
    if constexpr (std::floating_point<T>) {
      kernel.backward = std::bind_front(&AttendBackward, op, LoopsOf<T>(load));
    }
    return kernel;
  });
}

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
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanRotary(op, run));
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
  ASSAY_ASSIGN_OR_RETURN(auto y,
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

Family AttentionFamily() {
  return FamilyOf(MakeAttention, Typed(kFloats, []<class T>() {
                    return &RotaryEmbedding<T>;
                  }));
}

}  // namespace assay::reference

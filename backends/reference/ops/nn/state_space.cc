// SPDX-License-Identifier: Apache-2.0
//
// Operators that carry a state from token to token: LinearAttention and
// CausalConvWithState. Sources: their pages, version 27.

#include <algorithm>
#include <functional>

#include "backends/reference/families.h"
#include "backends/reference/loop/accumulate.h"
#include "backends/reference/loop/simd.h"
#include "backends/reference/ops/nn/attention_plan.h"
#include "backends/reference/scalar/codec.h"
#include "backends/reference/scalar/exponentials.h"
#include "backends/reference/scalar/scalar.h"

namespace assay::reference {
namespace {

/// The state decays by a "gated" rule, by the input decay, and is corrected by
/// a "delta" rule, by the input beta.
Status CheckUpdateRule(const op::LinearAttention& op) {
  const std::string& name = op.update_rule;
  const bool gated = name == "gated" || name == "gated_delta";
  const bool delta = name == "delta" || name == "gated_delta";
  ASSAY_RETURN_IF_ERROR(
      WordOf("update_rule", name, {"linear", "gated", "delta", "gated_delta"})
          .status());
  if (gated == op.decay.present && delta == op.beta.present) return OkStatus();
  return InvalidArgument("update_rule is '", name, "', wanted the input decay ",
                         gated ? "given" : "omitted", " and beta ",
                         delta ? "given" : "omitted");
}

struct LinearPlan {
  Heads q, k, v, output, state;  // the state's rows are as long as v's
  int64_t decays = 0;            // numbers of decay for a token: one for each
                                 // head, or each of its rows of state
  int64_t betas = 0;             // and of beta: one for each head, or one
};

Result<Heads> PackedHeads(std::string_view input, const Shape& shape,
                          std::string_view attribute, int64_t heads) {
  if (shape.rank() == 3) return Heads::Of(input, shape, {attribute, heads});
  return InvalidArgument("input ", input, " of shape ", shape.ToString(),
                         ", wanted three axes");
}

Status PlanGates(const op::LinearAttention& op, const KernelContext& run,
                 LinearPlan& plan) {
  const Shape& decay = run.input(op.decay).shape();
  const Shape& beta = run.input(op.beta).shape();
  Shape wanted = {plan.q.batch, plan.q.rows, plan.k.heads};
  if (op.beta.present) {
    plan.betas = beta.rank() == 3 && beta[2] == 1 ? 1 : plan.k.heads;
    wanted[2] = plan.betas;
    if (beta != wanted) return Mismatch("beta", beta, wanted);
  }
  if (op.decay.present) {
    plan.decays = decay.rank() == 3 && decay[2] == plan.k.heads
                      ? plan.k.heads
                      : plan.k.heads * plan.k.size;
    wanted[2] = plan.decays;
    if (decay != wanted) return Mismatch("decay", decay, wanted);
  }
  return OkStatus();
}

Result<LinearPlan> PlanLinear(const op::LinearAttention& op,
                              const KernelContext& run) {
  LinearPlan plan;
  const Shape& k = run.input(op.key).shape();
  const Shape& v = run.input(op.value).shape();
  ASSAY_ASSIGN_OR_RETURN(
      plan.q, PackedHeads("query", run.input(op.query).shape(), "q_num_heads",
                          op.q_num_heads));
  ASSAY_ASSIGN_OR_RETURN(
      plan.k, PackedHeads("key", k, "kv_num_heads", op.kv_num_heads));
  ASSAY_ASSIGN_OR_RETURN(
      plan.v, PackedHeads("value", v, "kv_num_heads", op.kv_num_heads));
  Heads wanted = plan.q;
  wanted.heads = plan.k.heads;
  if (k != wanted.shape()) return Mismatch("key", k, wanted.shape());
  wanted.size = plan.v.size;
  if (v != wanted.shape()) return Mismatch("value", v, wanted.shape());
  if (plan.q.heads % plan.k.heads != 0) {
    return InvalidArgument("q_num_heads is ", plan.q.heads,
                           ", wanted a multiple of kv_num_heads, ",
                           plan.k.heads);
  }
  plan.output = plan.q;
  plan.output.size = plan.v.size;
  plan.state = {plan.q.batch, plan.k.heads, plan.q.size, plan.v.size,
                /*packed=*/false};
  const Shape& past = run.input(op.past_state).shape();
  if (op.past_state.present && past != plan.state.shape()) {
    return Mismatch("past_state", past, plan.state.shape());
  }
  ASSAY_RETURN_IF_ERROR(PlanGates(op, run, plan));
  return plan;
}

/// One run of a LinearAttention node.
template <class T>
struct LinearRun {
  // S_t = exp(g_t) S_{t-1} + k_t (x) v_t; o_t = scale * q_t^T S_t, where the
  // delta rules write beta_t * (v_t - (exp(g_t) S_{t-1})^T k_t) for v_t.
  void Step(int64_t b, int64_t h, int64_t t) const {
    T* const s = state + plan.state.At(b, h, 0);
    const int64_t token = b * plan.q.rows + t;
    if (decay != nullptr) Decay(decay + token * plan.decays, h, s);
    const T* const key = k + plan.k.At(b, h, t);
    const T* const value = v + plan.v.At(b, h, t);
    Scratch<T> written(value, value + plan.v.size);
    if (beta != nullptr) {
      const T rate = beta[token * plan.betas + (plan.betas == 1 ? 0 : h)];
      Scratch<T> retrieved(written.size(), T(0));
      Accumulate(loops, DenseProduct(1, plan.k.size, plan.v.size), key, s,
                 retrieved.data());
      for (size_t i = 0; i < written.size(); ++i) {
        written[i] = rate * (written[i] - retrieved[i]);
      }
    }
    Accumulate(loops, DenseProduct(plan.k.size, 1, plan.v.size), key,
               written.data(), s);
    const int64_t group = plan.q.heads / plan.k.heads;
    for (int64_t g = h * group; g < (h + 1) * group; ++g) Read(b, g, t, s);
  }

  void Decay(const T* gates, int64_t h, T* s) const {
    const bool by_row = plan.decays != plan.k.heads;
    for (int64_t d = 0; d < plan.k.size; ++d) {
      const T factor = exp(gates[by_row ? h * plan.k.size + d : h]);
      for (int64_t i = 0; i < plan.v.size; ++i) {
        T& element = s[d * plan.v.size + i];
        element = element * factor;
      }
    }
  }

  void Read(int64_t b, int64_t g, int64_t t, const T* s) const {
    T* const to = output + plan.output.At(b, g, t);
    std::fill_n(to, plan.v.size, T(0));
    Accumulate(loops, DenseProduct(1, plan.k.size, plan.v.size),
               q + plan.q.At(b, g, t), s, to);
    for (int64_t i = 0; i < plan.v.size; ++i) to[i] = to[i] * scale;
  }

  const LinearPlan& plan;
  const SimdLoops<T>* loops;
  T scale;
  const T *q, *k, *v, *decay, *beta;
  T *state, *output;
};

template <class T>
Status AttendLinearly(const op::LinearAttention& op, const SimdLoops<T>* loops,
                      KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanLinear(op, run));
  const Loaded<T> q(run.input(op.query));
  const Loaded<T> k(run.input(op.key));
  const Loaded<T> v(run.input(op.value));
  const Loaded<T> past(run.input(op.past_state));
  const Loaded<T> decay(run.input(op.decay));
  const Loaded<T> beta(run.input(op.beta));
  const DType type = run.input(op.query).dtype();
  ASSAY_ASSIGN_OR_RETURN(auto output,
                         Store<T>(run, op.output, type, plan.output.shape()));
  // "present_state is cast back to S (past_state's dtype, or query's dtype when
  // past_state is absent)": the function body.
  ASSAY_ASSIGN_OR_RETURN(
      auto present,
      Store<T>(run, op.present_state,
               op.past_state.present ? run.input(op.past_state).dtype() : type,
               plan.state.shape()));
  Scratch<T> state(static_cast<size_t>(plan.state.batch * plan.state.heads *
                                       plan.state.rows * plan.state.size),
                   T(0));
  if (past.data() != nullptr) std::copy_n(past.data(), past.size(), &state[0]);
  const LinearRun<T> attending = {
      .plan = plan,
      .loops = loops,
      .scale = op.scale != 0 ? T(op.scale) : T(1) / sqrt(T(plan.q.size)),
      .q = q.data(),
      .k = k.data(),
      .v = v.data(),
      .decay = decay.data(),
      .beta = beta.data(),
      .state = state.data(),
      .output = output.data()};
  for (int64_t b = 0; b < plan.q.batch; ++b) {
    for (int64_t h = 0; h < plan.k.heads; ++h) {
      for (int64_t t = 0; t < plan.q.rows; ++t) attending.Step(b, h, t);
    }
  }
  if (present.data() != nullptr) std::ranges::copy(state, present.data());
  return OkStatus();
}

struct CausalConvPlan {
  int64_t lines = 0;  // of each image and channel
  int64_t channels = 0;
  int64_t length = 0;
  int64_t kernel = 0;
  Shape state;
};

Result<CausalConvPlan> PlanCausalConv(const op::CausalConvWithState& op,
                                      const KernelContext& run) {
  const Shape& x = run.input(op.input).shape();
  const Shape& w = run.input(op.weight).shape();
  const Shape& bias = run.input(op.bias).shape();
  const Shape& past = run.input(op.past_state).shape();
  if (x.rank() != 3) {
    return InvalidArgument("input input of shape ", x.ToString(),
                           ", wanted three axes");
  }
  if (w.rank() != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1) {
    return InvalidArgument("input weight of shape ", w.ToString(), ", wanted [",
                           x[1], ",1,k] with k at least 1");
  }
  if (op.bias.present && bias != Shape{x[1]}) {
    return Mismatch("bias", bias, {x[1]});
  }
  const Shape state = {x[0], x[1], w[2] - 1};
  if (op.past_state.present && past != state) {
    return Mismatch("past_state", past, state);
  }
  return CausalConvPlan{x[0] * x[1], x[1], x[2], w[2], state};
}

// "Depthwise convolution" of each channel after the state, the last k - 1
// numbers before it; silu and swish are x * Sigmoid(x).
template <class T>
Status ConvolveCausally(const op::CausalConvWithState& op, KernelContext& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto plan, PlanCausalConv(op, run));
  const Tensor& input = run.input(op.input);
  const Loaded<T> x(input);
  const Loaded<T> weight(run.input(op.weight));
  const Loaded<T> bias(run.input(op.bias));
  const Loaded<T> past(run.input(op.past_state));
  ASSAY_ASSIGN_OR_RETURN(
      auto y, Store<T>(run, op.output, input.dtype(), input.shape()));
  ASSAY_ASSIGN_OR_RETURN(
      auto present, Store<T>(run, op.present_state, input.dtype(), plan.state));
  const int64_t carried = plan.kernel - 1;
  Scratch<T> line(static_cast<size_t>(carried + plan.length), T(0));
  for (int64_t i = 0; i < plan.lines; ++i) {
    if (past.data() != nullptr) {
      std::copy_n(past.data() + i * carried, carried, line.data());
    }
    std::copy_n(x.data() + i * plan.length, plan.length, line.data() + carried);
    const int64_t c = i % plan.channels;
    for (int64_t t = 0; t < plan.length; ++t) {
      T sum = bias.data() == nullptr ? T(0) : bias[c];
      for (int64_t k = 0; k < plan.kernel; ++k) {
        sum += weight[c * plan.kernel + k] * line[static_cast<size_t>(t + k)];
      }
      y[i * plan.length + t] =
          op.activation == "none" ? sum : sum * Sigmoid(sum);
    }
    if (present.data() != nullptr) {
      std::copy(line.end() - carried, line.end(), present.data() + i * carried);
    }
  }
  return OkStatus();
}

Result<Kernel> MakeLinearAttention(const op::LinearAttention& op,
                                   LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(CheckUpdateRule(op));
  return Dispatch(load, op.query, kFloats, [&]<class T>() {
    return std::bind_front(&AttendLinearly<T>, op, LoopsOf<T>(load));
  });
}

Result<Kernel> MakeCausalConvWithState(const op::CausalConvWithState& op,
                                       LoadContext& load) {
  ASSAY_RETURN_IF_ERROR(
      WordOf("activation", op.activation, {"none", "silu", "swish"}).status());
  return Dispatch(load, op.input, kFloats, [&]<class T>() {
    return std::bind_front(&ConvolveCausally<T>, op);
  });
}

}  // namespace

Family StateSpaceFamily() {
  return FamilyOf(MakeLinearAttention, MakeCausalConvWithState);
}

}  // namespace assay::reference

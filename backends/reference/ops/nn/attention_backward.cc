// SPDX-License-Identifier: Apache-2.0

#include "backends/reference/ops/nn/attention_backward.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backends/reference/kernel/backward_inputs.h"
#include "backends/reference/kernel/gradient.h"
#include "backends/reference/ops/nn/attending.h"

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
    std::vector<double> flows(static_cast<size_t>(keys));
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

  void AddStage(Stage stage, const double* qk,
                std::vector<double>& flows) const {
    if (qk == nullptr || stage != forward.asked) return;
    for (size_t j = 0; j < flows.size(); ++j) flows[j] += qk[j];
  }

  void FromValues(int64_t b, int64_t h, int64_t i, const double* weights,
                  std::vector<double>& flows) {
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
      // What is masked takes no part.
      if (weights[j] != 0) flows[j] += sum;
    }
  }

  static void ThroughSoftmax(const double* weights,
                             std::vector<double>& flows) {
    double sum = 0;
    for (size_t j = 0; j < flows.size(); ++j) sum += Flow(flows[j], weights[j]);
    for (size_t j = 0; j < flows.size(); ++j) {
      flows[j] = Flow(flows[j] - sum, weights[j]);
    }
  }

  void ToMask(int64_t b, int64_t h, int64_t i,
              const std::vector<double>& flows) {
    const auto row = forward.mask.At(b, h, i);
    if (row.bias == nullptr || dmask == nullptr) return;
    for (int64_t j = 0; j < row.count; ++j) {
      const double* const bias = row.bias + j * row.step;
      dmask[bias - forward.mask.first()] += flows[static_cast<size_t>(j)];
    }
  }

  void ThroughCap(const double* product, std::vector<double>& flows) const {
    const double cap = forward.op.softcap;
    if (cap == 0) return;
    for (size_t j = 0; j < flows.size(); ++j) {
      const double bent = tanh(product[j] / cap);
      flows[j] = Flow(flows[j], (1 - bent) * (1 + bent));
    }
  }

  void ToQueriesAndKeys(int64_t b, int64_t h, int64_t i,
                        const std::vector<double>& flows) {
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
  std::vector<double> dkeys = {};
  std::vector<double> dvalues = {};
};

}  // namespace

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
  std::vector<double> keys(static_cast<size_t>(size_of(plan.keys)));
  std::vector<double> values(static_cast<size_t>(size_of(plan.values)));
  std::vector<double> y(static_cast<size_t>(size_of(plan.y)));
  const Attending<double> attending = inputs.Attend(
      op, plan, mask, loops, keys.data(), values.data(), y.data());
  Attending<double> noting = attending;
  noting.asked = Stage::kProduct;
  const Loaded<double> dy(FlowInto(run, op.y));
  const Loaded<double> into_qk(FlowInto(run, op.qk_matmul_output));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dq, GradientOf<double>(run, op.q));
  ASSAY_ASSIGN_OR_RETURN(Stored<double> dmask,
                         GradientOf<double>(run, op.attn_mask));
  AttendingBack back{plan,
                     attending,
                     dy.data(),
                     dq.data(),
                     dmask.data(),
                     FlowOrZeros(run, op.present_key, size_of(plan.keys)),
                     FlowOrZeros(run, op.present_value, size_of(plan.values))};
  const int64_t size = plan.q.rows * plan.keys.rows;
  std::vector<double> product(static_cast<size_t>(size));
  std::vector<double> weights(product.size());
  for (int64_t head = 0; size > 0 && head < plan.q.batch * plan.q.heads;
       ++head) {
    const int64_t b = head / plan.q.heads;
    const int64_t h = head % plan.q.heads;
    noting.RunHead(b, h, weights.data(), product.data());
    back.RunHead(
        b, h, product.data(), weights.data(),
        into_qk.data() == nullptr ? nullptr : into_qk.data() + head * size);
  }
  const auto part = [&](const std::vector<double>& joined, Heads past,
                        Input of_past, const Heads& current,
                        Input of_current) -> Status {
    past.rows = plan.past;
    ASSAY_ASSIGN_OR_RETURN(Stored<double> dpast,
                           GradientOf<double>(run, of_past));
    ASSAY_ASSIGN_OR_RETURN(Stored<double> dcurrent,
                           GradientOf<double>(run, of_current));
    Part(joined.data(), past, dpast.data(), current, dcurrent.data());
    return OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(part(back.dkeys, plan.keys, op.past_key, plan.k, op.k));
  return part(back.dvalues, plan.values, op.past_value, plan.v, op.v);
}

}  // namespace assay::reference

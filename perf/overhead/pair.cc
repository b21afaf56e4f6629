// SPDX-License-Identifier: Apache-2.0

#include "perf/overhead/pair.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "framework/core/numbers.h"
#include "framework/timing/comparison.h"
#include "framework/timing/pairs.h"
#include "framework/timing/sampler.h"
#include "framework/timing/statistics.h"

namespace assay::overhead {
namespace {

constexpr double kSampleNs = 200'000;
constexpr int64_t kWarmShare = 10;  // a tenth of the budget a side

/// The alignments that a call can find its stack at, within a line of 64 bytes.
constexpr int64_t kDepths = 4;
constexpr int64_t kBytesOfDepth = 16;

/// Calls from so much further down the stack; a sanitizer adds nothing to it.
[[gnu::noinline, gnu::no_sanitize_address]] Status CallFrom(
    int64_t bytes, const Calls& subject, int64_t calls) {
  void* const unused = __builtin_alloca(static_cast<size_t>(bytes));
  asm volatile("" : : "r"(unused) : "memory");
  return subject(calls);
}

/// So many calls at each depth. Kernels spill vectors to their stack, and are
/// slower where these straddle two lines, whoever calls them.
Status CallFromEachDepth(const Calls& subject, int64_t calls) {
  for (int64_t depth = 0; depth < kDepths; ++depth) {
    ASSAY_RETURN_IF_ERROR(CallFrom(depth * kBytesOfDepth, subject, calls));
  }
  return OkStatus();
}

/// One sample behind the warm-up.
Result<timing::Samples> Warm(const timing::Sampler& sampler, const Calls& calls,
                             int64_t budget_ns) {
  return sampler.Take(
      calls, timing::Stopping({timing::Count{1}, timing::Budget{budget_ns}}),
      {.least_sample_ns = kSampleNs});
}

void SetInterval(const std::optional<timing::Interval>& interval,
                 record::Number* low, record::Number* high) {
  if (!interval.has_value()) return;
  *low = interval->low;
  *high = interval->high;
}

Status Fill(const std::vector<timing::Block>& blocks, times::OverheadRow* row) {
  ASSAY_ASSIGN_OR_RETURN(const auto log_ratios, timing::LogRatios(blocks));
  const timing::Comparison ratio = timing::Compare(log_ratios);
  const timing::Summary delta = timing::Summarize(timing::Differences(blocks));
  row->native_median_ns = timing::MedianOf(blocks, timing::Side::kBase);
  row->framework_median_ns = timing::MedianOf(blocks, timing::Side::kCandidate);
  row->paired_ratio = ratio.ratio;
  SetInterval(ratio.interval, &row->ratio_ci95_lo, &row->ratio_ci95_hi);
  row->delta_ns = delta.median;
  SetInterval(delta.interval, &row->delta_ci95_lo_ns, &row->delta_ci95_hi_ns);
  row->n_pairs = ratio.units;
  return OkStatus();
}

}  // namespace

Status CheckAlike(const Pair& pair) {
  if (!pair.output.defined()) return OkStatus();
  Tensor output = pair.output;
  const auto left_by = [&](const Calls& calls) -> Result<Tensor> {
    std::memset(output.mutable_data(), 0xFF,
                static_cast<size_t>(output.byte_size()));
    ASSAY_RETURN_IF_ERROR(calls(1));
    return output.Clone();
  };
  ASSAY_ASSIGN_OR_RETURN(const Tensor native, left_by(pair.native));
  ASSAY_ASSIGN_OR_RETURN(const Tensor framework, left_by(pair.framework));
  if (std::ranges::equal(native.bytes(), framework.bytes())) return OkStatus();
  return FailedPrecondition(pair.test_id, " on ", pair.backend,
                            ": the native calls gave other bytes than the "
                            "backend, wanted the same");
}

int64_t ThreadNow() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<times::OverheadRow> TimePair(const Pair& pair, const Budget& budget,
                                    const timing::Clock& clock) {
  times::OverheadRow row;
  row.test_id = pair.test_id;
  row.backend = pair.backend;
  row.settings = pair.settings;
  const timing::Sampler sampler(clock);
  int64_t calls = 1;
  for (const Calls* const side : {&pair.native, &pair.framework}) {
    ASSAY_ASSIGN_OR_RETURN(const timing::Samples warm,
                           Warm(sampler, *side, budget.ns / kWarmShare));
    calls = std::max(calls, warm.inner_iters);
  }
  const int64_t each = (calls + kDepths - 1) / kDepths;
  const auto time_of = [&](timing::Side side) -> Result<double> {
    const bool is_native = side == timing::Side::kBase;
    const Calls& subject = is_native ? pair.native : pair.framework;
    const int64_t start = clock();
    ASSAY_RETURN_IF_ERROR(CallFromEachDepth(subject, each));
    return static_cast<double>(clock() - start) /
           static_cast<double>(each * kDepths);
  };
  // Criteria that do not look at the ratios, which decide.
  timing::Stopping stopping(
      {timing::Count{budget.most_blocks}, timing::Budget{budget.ns}});
  ASSAY_ASSIGN_OR_RETURN(
      const timing::Pairs pairs,
      timing::TakePairs(time_of, core::StableHash(pair.test_id),
                        std::move(stopping), clock));
  ASSAY_RETURN_IF_ERROR(Fill(pairs.blocks, &row));
  if (pair.eigen == nullptr) return row;
  const int64_t eigen_ns = budget.ns / kWarmShare;
  ASSAY_ASSIGN_OR_RETURN(
      const timing::Samples eigen,
      sampler.Take(pair.eigen, timing::Stopping({timing::Budget{eigen_ns}}),
                   {.least_sample_ns = kSampleNs}));
  row.eigen_median_ns = timing::Summarize(eigen.ns).median;
  return row;
}

}  // namespace assay::overhead

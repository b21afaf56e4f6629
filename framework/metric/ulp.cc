// SPDX-License-Identifier: Apache-2.0

#include "framework/metric/ulp.h"

#include <algorithm>

namespace assay::metric {
namespace {

// The 1-based nearest rank of a quantile given in thousandths.
int64_t RankOf(int64_t count, int64_t thousandths) {
  return count / 1000 * thousandths + (count % 1000 * thousandths + 999) / 1000;
}

}  // namespace

int64_t OrderedKey(DType type, uint64_t bits) {
  if (type == DType::kFloat8E8M0) return static_cast<int64_t>(bits);
  return OrderedKey(bits, BitsOf(type));
}

uint64_t UlpDistance(DType type, uint64_t a, uint64_t b) {
  return KeyDistance(OrderedKey(type, a), OrderedKey(type, b));
}

double UlpTally::AtRank(int64_t rank) {
  for (size_t distance = 0; distance < small_.size(); ++distance) {
    if (rank <= small_[distance]) return static_cast<double>(distance);
    rank -= small_[distance];
  }
  const auto place = static_cast<size_t>(rank) - 1;
  uint64_t* const all = large_.get();
  std::nth_element(all + selected_, all + place, all + n_large_);
  selected_ = place;
  return static_cast<double>(all[place]);
}

UlpSummary UlpTally::Summarize() {
  const auto count = static_cast<double>(count_);
  UlpSummary summary;
  summary.p50 = AtRank(RankOf(count_, 500));
  summary.p99 = AtRank(RankOf(count_, 990));
  summary.p999 = AtRank(RankOf(count_, 999));
  summary.max = AtRank(count_);
  summary.mean_signed = signed_sum_ / count;
  summary.share_zero = static_cast<double>(small_[0]) / count;
  return summary;
}

}  // namespace assay::metric

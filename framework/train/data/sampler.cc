// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "framework/core/numbers.h"

namespace assay::train {
namespace {

void Shuffle(std::span<int64_t> numbers, core::Numbers* drawn) {
  for (size_t left = numbers.size(); left > 1; --left) {
    std::swap(numbers[left - 1], numbers[drawn->Below(left)]);
  }
}

Status Check(const Cut& cut) {
  if (cut.samples < 1 || cut.batch < 1) {
    return InvalidArgument("found ", cut.samples, " samples in batches of ",
                           cut.batch, ", wanted one at least of both");
  }
  if (cut.drop_last && cut.samples < cut.batch) {
    return InvalidArgument("found ", cut.samples, " samples, a batch is of ",
                           cut.batch, " and the last is dropped");
  }
  return OkStatus();
}

std::vector<Batch> InBatches(const Cut& cut, std::span<const int64_t> order) {
  std::vector<Batch> batches;
  const auto size = static_cast<size_t>(cut.batch);
  for (size_t begin = 0; begin < order.size(); begin += size) {
    const auto part =
        order.subspan(begin, std::min(size, order.size() - begin));
    if (cut.drop_last && part.size() < size) break;
    batches.emplace_back(part.begin(), part.end());
  }
  return batches;
}

std::vector<int64_t> InOrder(int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// One number for each sample.
Status CheckCount(const Cut& cut, size_t found, const char* what) {
  if (static_cast<int64_t>(found) == cut.samples) return OkStatus();
  return InvalidArgument("found ", found, " ", what, ", wanted ", cut.samples);
}

}  // namespace

std::vector<int64_t> Shuffled(int64_t n, uint64_t key) {
  std::vector<int64_t> numbers = InOrder(n);
  core::Numbers drawn(key);
  Shuffle(numbers, &drawn);
  return numbers;
}

Result<Sampler> OrderedSampler(const Cut& cut) {
  ASSAY_RETURN_IF_ERROR(Check(cut));
  return Sampler(
      [cut](int64_t) { return InBatches(cut, InOrder(cut.samples)); });
}

Result<Sampler> ShuffledSampler(const Cut& cut, uint64_t seed) {
  ASSAY_RETURN_IF_ERROR(Check(cut));
  return Sampler([cut, seed](int64_t epoch) {
    return InBatches(cut, Shuffled(cut.samples, core::KeyOf(seed, epoch)));
  });
}

Result<Sampler> BucketedSampler(const Cut& cut,
                                std::span<const int64_t> lengths,
                                uint64_t seed) {
  ASSAY_RETURN_IF_ERROR(Check(cut));
  ASSAY_RETURN_IF_ERROR(CheckCount(cut, lengths.size(), "lengths"));
  const std::vector<int64_t> own(lengths.begin(), lengths.end());
  return Sampler([cut, own, seed](int64_t epoch) {
    const uint64_t key = core::KeyOf(seed, epoch);
    std::vector<int64_t> order = Shuffled(cut.samples, key);
    std::ranges::stable_sort(order, {}, [&](int64_t sample) {
      return own[static_cast<size_t>(sample)];
    });
    const std::vector<Batch> sorted = InBatches(cut, order);
    std::vector<Batch> batches;
    for (const int64_t place :
         Shuffled(std::ssize(sorted), core::KeyOf(key, 0))) {
      batches.push_back(sorted[static_cast<size_t>(place)]);
    }
    return batches;
  });
}

Result<Sampler> WeightedSampler(const Cut& cut, std::span<const double> weights,
                                uint64_t seed) {
  ASSAY_RETURN_IF_ERROR(Check(cut));
  ASSAY_RETURN_IF_ERROR(CheckCount(cut, weights.size(), "weights"));
  std::vector<double> sums;
  double sum = 0;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0) {
      return InvalidArgument("found the weight ", weight, " of sample ",
                             sums.size(), ", wanted 0 or more");
    }
    sums.push_back(sum += weight);
  }
  if (sum == 0) return InvalidArgument("all weights are 0");
  return Sampler([cut, sums, seed](int64_t epoch) {
    core::Numbers drawn(core::KeyOf(seed, epoch));
    std::vector<int64_t> order;
    for (int64_t i = 0; i < cut.samples; ++i) {
      const double at = drawn.Share() * sums.back();
      order.push_back(std::ranges::upper_bound(sums, at) - sums.begin());
    }
    return InBatches(cut, order);
  });
}

}  // namespace assay::train

// SPDX-License-Identifier: Apache-2.0
//
// Sampler: which samples the batches of an epoch have, a pure function of the
// epoch, so that a run which is resumed has the batches of one that was not.
//
//   ASSAY_ASSIGN_OR_RETURN(const Sampler sampler,
//                          ShuffledSampler({60000, 64}, /*seed=*/7));
//   const std::vector<Batch> batches = sampler(/*epoch=*/0);

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "framework/core/status.h"

namespace assay::train {

/// Places of samples in their dataset.
using Batch = std::vector<int64_t>;

/// Epochs count from 0. No batch is empty.
using Sampler = std::function<std::vector<Batch>(int64_t epoch)>;

/// How samples are cut into batches. The last is of what is left, unless it is
/// to be dropped.
struct Cut {
  int64_t samples = 0;
  int64_t batch = 1;
  bool drop_last = false;
};

// All are invalid argument for no samples, a batch of less than one, and where
// dropping the last batch leaves none.

/// In the order of the dataset.
Result<Sampler> OrderedSampler(const Cut& cut);

/// Each sample once an epoch, in an order that the seed and the epoch give.
Result<Sampler> ShuffledSampler(const Cut& cut, uint64_t seed);

/// Each sample once an epoch; those of a batch are next to each other by
/// length, where order among equals and the order of batches are shuffled.
/// `lengths` has one for each sample.
Result<Sampler> BucketedSampler(const Cut& cut,
                                std::span<const int64_t> lengths,
                                uint64_t seed);

/// As many samples an epoch as there are, each drawn with the probability of
/// its weight, with replacement. Invalid argument for another number of
/// weights, for one that is negative or no number, and for a sum of 0.
Result<Sampler> WeightedSampler(const Cut& cut, std::span<const double> weights,
                                uint64_t seed);

/// The same numbers 0 to n - 1 in an order that the key gives, on every
/// machine.
std::vector<int64_t> Shuffled(int64_t n, uint64_t key);

}  // namespace assay::train

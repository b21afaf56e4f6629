// SPDX-License-Identifier: Apache-2.0
//
// Dataset: samples with labels, in memory, from which batches are gathered;
// Sampler, which says which samples the batches of an epoch have; and the masks
// of Dropout, drawn by the trainer and not by a backend, so that all backends
// drop the same.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"

namespace assay::train {

/// Places of samples in their dataset.
using Batch = std::vector<int64_t>;

/// The batches of an epoch, which count from 0: a pure function, so that a run
/// which is resumed has the batches of one that was not. No batch is empty.
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

/// Immutable; tensors share their memory with those that it was made of.
class Dataset {
 public:
  /// `inputs` is [N, ...] of a type of at least a byte, `labels` int64[N].
  /// Invalid argument for no samples, for tensors of other forms, and for a
  /// label outside of [0, classes).
  static Result<Dataset> Of(Tensor inputs, Tensor labels, int64_t classes);

  int64_t samples() const { return labels_.num_elements(); }
  int64_t classes() const { return classes_; }
  const Tensor& inputs() const { return inputs_; }
  const Tensor& labels() const { return labels_; }

  /// The inputs of these samples, [B, ...]. Invalid argument for a place that
  /// there is not, and for no sample at all.
  Result<Tensor> Inputs(const Batch& batch) const;
  /// Their labels, int64[B].
  Result<Tensor> Labels(const Batch& batch) const;
  /// Rows of zeros with a one at the label, [B, classes] of float32 or float64.
  Result<Tensor> OneHot(const Batch& batch, DType type) const;

  std::vector<int64_t> CountByClass() const;

 private:
  Dataset(Tensor inputs, Tensor labels, int64_t classes)
      : inputs_(std::move(inputs)),
        labels_(std::move(labels)),
        classes_(classes) {}

  Tensor inputs_, labels_;
  int64_t classes_;
};

struct Split {
  Dataset train, test;
};

/// Puts `share` of each class' samples, rounded down, into the test part, drawn
/// by the seed; both keep the order of the dataset. Invalid argument for a
/// share outside of (0, 1), and where one part would be empty.
Result<Split> StratifiedSplit(const Dataset& dataset, double share,
                              uint64_t seed);

/// The key of one mask in one part of a step's batch; others have nothing in
/// common with it.
uint64_t MaskKey(uint64_t seed, int64_t step, int64_t part,
                 std::string_view name);

/// Each element is 0 with the probability `ratio` and 1 / (1 - ratio)
/// otherwise, so that the mean stays (N. Srivastava et al., "Dropout", 2014,
/// section 10, and ONNX's Dropout). Invalid argument for a ratio outside of [0,
/// 1); unsupported, reason dtype, for others than float32 and float64.
Status DrawMask(uint64_t key, double ratio, Tensor* mask);

}  // namespace assay::train

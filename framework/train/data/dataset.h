// SPDX-License-Identifier: Apache-2.0
//
// Dataset: samples with labels, in memory, from which batches are gathered.
//
//   ASSAY_ASSIGN_OR_RETURN(const Dataset digits,
//                          Dataset::Of(images, labels, /*classes=*/10));
//   ASSAY_ASSIGN_OR_RETURN(const Tensor rows, digits.Inputs(batch));
//   ASSAY_ASSIGN_OR_RETURN(const Tensor classes, digits.Labels(batch));

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/core/tensor.h"
#include "framework/train/data/sampler.h"

namespace assay::train {

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

  /// How many samples each class has.
  std::vector<int64_t> CountByClass() const;

 private:
  Dataset(Tensor inputs, Tensor labels, int64_t classes)
      : inputs_(std::move(inputs)),
        labels_(std::move(labels)),
        classes_(classes) {}

  Tensor inputs_, labels_;
  int64_t classes_;
};

/// Two parts of a dataset.
struct Split {
  Dataset train, test;
};

/// Puts `share` of each class' samples, rounded down, into the test part, drawn
/// by the seed; both keep the order of the dataset. Invalid argument for a
/// share outside of (0, 1), and where one part would be empty.
Result<Split> StratifiedSplit(const Dataset& dataset, double share,
                              uint64_t seed);

}  // namespace assay::train

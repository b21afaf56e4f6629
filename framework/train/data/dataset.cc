// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dataset.h"

#include <algorithm>
#include <cstring>

namespace assay::train {
namespace {

/// Rows of a tensor, one behind the other.
Result<Tensor> RowsOf(const Tensor& all, const Batch& batch) {
  if (batch.empty()) return InvalidArgument("found a batch of no samples");
  std::vector<int64_t> dims(all.shape().dims().begin(),
                            all.shape().dims().end());
  const int64_t n = dims.front();
  dims.front() = std::ssize(batch);
  ASSAY_ASSIGN_OR_RETURN(Tensor rows,
                         Tensor::Allocate(all.dtype(), Shape(dims)));
  const auto bytes = static_cast<size_t>(all.byte_size() / n);
  std::byte* to = rows.mutable_data();
  for (const int64_t row : batch) {
    if (row < 0 || row >= n) {
      return InvalidArgument("found sample ", row, ", wanted one of ", n);
    }
    if (bytes > 0) {
      std::memcpy(to, all.data() + static_cast<size_t>(row) * bytes, bytes);
    }
    to += bytes;
  }
  return rows;
}

Status CheckForms(const Tensor& inputs, const Tensor& labels) {
  if (labels.dtype() != DType::kInt64 || labels.shape().rank() != 1) {
    return InvalidArgument("found labels ", labels.Signature(),
                           ", wanted a vector of int64");
  }
  const int64_t n = labels.num_elements();
  if (n == 0) return InvalidArgument("the dataset has no samples");
  if (inputs.shape().rank() == 0 || inputs.shape().dims()[0] != n) {
    return InvalidArgument("found inputs ", inputs.Signature(), " for ", n,
                           " labels");
  }
  if (inputs.dtype() == DType::kString || BitsOf(inputs.dtype()) < 8) {
    return InvalidArgument("found inputs ", inputs.Signature(),
                           ", wanted elements of a byte at least");
  }
  return OkStatus();
}

}  // namespace

Result<Dataset> Dataset::Of(Tensor inputs, Tensor labels, int64_t classes) {
  ASSAY_RETURN_IF_ERROR(CheckForms(inputs, labels));
  const auto all = labels.elements<int64_t>();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] >= 0 && all[i] < classes) continue;
    return InvalidArgument("found the label ", all[i], " of sample ", i,
                           ", wanted one in [0, ", classes, ")");
  }
  return Dataset(std::move(inputs), std::move(labels), classes);
}

Result<Tensor> Dataset::Inputs(const Batch& batch) const {
  return RowsOf(inputs_, batch);
}

Result<Tensor> Dataset::Labels(const Batch& batch) const {
  return RowsOf(labels_, batch);
}

Result<Tensor> Dataset::OneHot(const Batch& batch, DType type) const {
  ASSAY_ASSIGN_OR_RETURN(const Tensor labels, Labels(batch));
  ASSAY_ASSIGN_OR_RETURN(Tensor rows,
                         Tensor::Allocate(type, {std::ssize(batch), classes_}));
  for (size_t i = 0; i < batch.size(); ++i) {
    const auto at = i * static_cast<size_t>(classes_) +
                    static_cast<size_t>(labels.elements<int64_t>()[i]);
    if (type == DType::kFloat32) {
      rows.mutable_elements<float>()[at] = 1;
    } else if (type == DType::kFloat64) {
      rows.mutable_elements<double>()[at] = 1;
    } else {
      return Unsupported(Reason::kDType, "found one-hot labels of ",
                         ToString(type), ", wanted float32 or float64");
    }
  }
  return rows;
}

std::vector<int64_t> Dataset::CountByClass() const {
  std::vector<int64_t> counts(static_cast<size_t>(classes_), 0);
  for (const int64_t label : labels_.elements<int64_t>()) {
    ++counts[static_cast<size_t>(label)];
  }
  return counts;
}

Result<Split> StratifiedSplit(const Dataset& dataset, double share,
                              uint64_t seed) {
  if (!(share > 0 && share < 1)) {
    return InvalidArgument("found the share ", share, ", wanted one in (0, 1)");
  }
  std::vector<int64_t> left = dataset.CountByClass();
  for (int64_t& count : left) {
    count = static_cast<int64_t>(share * static_cast<double>(count));
  }
  const auto labels = dataset.labels().elements<int64_t>();
  Batch train;
  Batch test;
  for (const int64_t sample : Shuffled(dataset.samples(), seed)) {
    int64_t& wanted =
        left[static_cast<size_t>(labels[static_cast<size_t>(sample)])];
    (wanted > 0 ? test : train).push_back(sample);
    if (wanted > 0) --wanted;
  }
  if (train.empty() || test.empty()) {
    return InvalidArgument("a share of ", share, " leaves ", train.size(),
                           " samples to train and ", test.size(), " to test");
  }
  const auto part = [&](Batch* samples) -> Result<Dataset> {
    std::ranges::sort(*samples);
    ASSAY_ASSIGN_OR_RETURN(Tensor inputs, dataset.Inputs(*samples));
    ASSAY_ASSIGN_OR_RETURN(Tensor classes, dataset.Labels(*samples));
    return Dataset::Of(std::move(inputs), std::move(classes),
                       dataset.classes());
  };
  ASSAY_ASSIGN_OR_RETURN(Dataset to_train, part(&train));
  ASSAY_ASSIGN_OR_RETURN(Dataset to_test, part(&test));
  return Split{std::move(to_train), std::move(to_test)};
}

}  // namespace assay::train

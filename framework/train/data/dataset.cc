// SPDX-License-Identifier: Apache-2.0

#include "framework/train/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "framework/core/dtype.h"
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

uint64_t MaskKey(uint64_t seed, int64_t step, int64_t part,
                 std::string_view name) {
  uint64_t key = core::KeyOf(core::KeyOf(seed, step), part);
  for (const char letter : name) {
    key = core::KeyOf(key, static_cast<unsigned char>(letter));
  }
  return key;
}

Status DrawMask(uint64_t key, double ratio, Tensor* mask) {
  if (!(ratio >= 0 && ratio < 1)) {
    return InvalidArgument("found the ratio ", ratio,
                           " of a mask, wanted a number of [0, 1)");
  }
  core::Numbers numbers(key);
  const bool drawn = VisitType<float, double>(mask->dtype(), [&]<class T>(T) {
    const T kept = static_cast<T>(1 / (1 - ratio));
    for (T& element : mask->mutable_elements<T>()) {
      element = numbers.Share() < ratio ? T(0) : kept;
    }
  });
  if (drawn) return OkStatus();
  return Unsupported(Reason::kDType, "found a mask of ",
                     ToString(mask->dtype()), ", wanted float32 or float64");
}

}  // namespace assay::train

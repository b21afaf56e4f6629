// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/scheme/bundle.h"

#include <algorithm>
#include <cstddef>

#include "framework/train/optimizer/in_place.h"

namespace assay::ranks {
namespace {

/// The number of tensors that go into one buffer.
size_t CountOfBuffer(std::span<const Tensor> tensors, int64_t most) {
  int64_t elements = 0;
  size_t count = 0;
  for (const Tensor& tensor : tensors) {
    elements += tensor.num_elements();
    const bool fits = elements <= most && tensor.dtype() == tensors[0].dtype();
    if (count > 0 && !fits) break;
    ++count;
  }
  return count;
}

int64_t ElementsOf(std::span<const Tensor> tensors) {
  int64_t elements = 0;
  for (const Tensor& tensor : tensors) elements += tensor.num_elements();
  return elements;
}

/// Tensors concatenated in a buffer of so many elements, padded by zeros.
Result<Tensor> Packed(std::span<const Tensor> tensors, int64_t elements) {
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer,
                         Tensor::Allocate(tensors[0].dtype(), {elements}));
  std::byte* to = buffer.mutable_data();
  for (const Tensor& tensor : tensors) {
    to = std::ranges::copy(tensor.bytes(), to).out;
  }
  std::fill(to, buffer.mutable_data() + buffer.byte_size(), std::byte{0});
  return buffer;
}

void Unpack(const Tensor& buffer, std::span<Tensor> tensors) {
  const std::byte* from = buffer.data();
  for (Tensor& tensor : tensors) {
    std::copy_n(from, tensor.byte_size(), tensor.mutable_data());
    from += tensor.byte_size();
  }
}

Status Divide(int by, Tensor* tensor) {
  return train::InPlace(tensor, *tensor, {},
                        [&]<class T>(const train::Elements<T>& each) {
                          for (T& x : each.x) x /= static_cast<T>(by);
                        });
}

Status RunBy(const Travel& travel, Collective what, Endpoint& endpoint,
             Tensor* buffer) {
  what.algorithm = travel.algorithm.value_or(Algorithm::kLinear);
  what.ranks = endpoint.size();
  return travel.algorithm.has_value()
             ? RunCollective(what, Reduction::kSum, endpoint, buffer)
             : RunOwn(what, Reduction::kSum, endpoint, buffer);
}

/// One collective for each buffer of tensors, in order.
Status InBuffers(std::span<Tensor> tensors, const Travel& travel,
                 Collective what, bool is_mean, Endpoint& endpoint) {
  while (!tensors.empty()) {
    const auto some = tensors.first(CountOfBuffer(tensors, travel.most));
    tensors = tensors.subspan(some.size());
    what.count = ElementsOf(some);
    ASSAY_ASSIGN_OR_RETURN(Tensor buffer, Packed(some, what.count));
    ASSAY_RETURN_IF_ERROR(RunBy(travel, what, endpoint, &buffer));
    if (is_mean) ASSAY_RETURN_IF_ERROR(Divide(endpoint.size(), &buffer));
    Unpack(buffer, some);
  }
  return OkStatus();
}

}  // namespace

Status MeanOfAll(std::span<Tensor> tensors, const Travel& travel,
                 Endpoint& endpoint) {
  return InBuffers(tensors, travel, {.operation = Operation::kAllReduce},
                   /*is_mean=*/true, endpoint);
}

Status MeanAtRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                  Endpoint& endpoint) {
  return InBuffers(tensors, travel,
                   {.operation = Operation::kReduce, .root = root},
                   /*is_mean=*/true, endpoint);
}

Status FromRoot(std::span<Tensor> tensors, const Travel& travel, int root,
                Endpoint& endpoint) {
  return InBuffers(tensors, travel,
                   {.operation = Operation::kBroadcast, .root = root},
                   /*is_mean=*/false, endpoint);
}

Result<Blocks> Blocks::Of(std::span<const Tensor> tensors,
                          const Endpoint& endpoint) {
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == tensors[0].dtype()) continue;
    return Unsupported(Reason::kDType, "found tensors of ",
                       ToString(tensors[0].dtype()), " and of ",
                       ToString(tensor.dtype()), ", wanted one type");
  }
  const int64_t ranks = endpoint.size();
  const int64_t count = (ElementsOf(tensors) + ranks - 1) / ranks;
  ASSAY_ASSIGN_OR_RETURN(Tensor buffer, Packed(tensors, ranks * count));
  return Blocks(std::move(buffer), endpoint.rank(), count);
}

Result<Tensor> Blocks::Own() const {
  ASSAY_ASSIGN_OR_RETURN(Tensor own,
                         Tensor::Allocate(buffer_.dtype(), {count_}));
  std::copy_n(buffer_.data() + rank_ * own.byte_size(), own.byte_size(),
              own.mutable_data());
  return own;
}

void Blocks::SetOwn(const Tensor& block) {
  std::copy_n(block.data(), block.byte_size(),
              buffer_.mutable_data() + rank_ * block.byte_size());
}

Status Blocks::Mean(const Travel& travel, Endpoint& endpoint) {
  ASSAY_RETURN_IF_ERROR(
      RunBy(travel, {.operation = Operation::kReduceScatter, .count = count_},
            endpoint, &buffer_));
  return Divide(endpoint.size(), &buffer_);
}

Status Blocks::Gather(const Travel& travel, Endpoint& endpoint) {
  return RunBy(travel, {.operation = Operation::kAllGather, .count = count_},
               endpoint, &buffer_);
}

void Blocks::CopyTo(std::span<Tensor> tensors) const {
  Unpack(buffer_, tensors);
}

}  // namespace assay::ranks

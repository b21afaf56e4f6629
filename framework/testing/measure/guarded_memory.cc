// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/measure/guarded_memory.h"

#include <algorithm>

#include "framework/testing/host/wire/arena.h"

namespace assay::measure {
namespace {

constexpr int64_t kGuard = 64;  // bytes; keeps the alignment of Allocate

// As a float huge or a NaN, as an integer neither small nor round.
constexpr auto kGarbage = std::byte{0xFD};

// Different at each place, so that a copy of guards is seen as well, and none
// is 0, 1 or 0xFF, which are written most.
std::byte GuardByte(int64_t index) {
  return static_cast<std::byte>(kGuard + index);
}

int64_t Damaged(std::span<const std::byte> guard) {
  int64_t damaged = 0;
  for (size_t i = 0; i < guard.size(); ++i) {
    damaged += guard[i] == GuardByte(static_cast<int64_t>(i)) ? 0 : 1;
  }
  return damaged;
}

}  // namespace

Result<GuardedTensor> GuardedTensor::Filled(DType type, const Shape& shape) {
  if (type == DType::kString || type == DType::kUndefined) {
    return InvalidArgument("found the type ", ToString(type),
                           ", wanted one whose elements are bytes");
  }
  GuardedTensor guarded;
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  const int64_t size = PackedBytes(type, count);
  guarded.size_ = size;
  guarded.memory_ =
      wire::Arena::Allocate(static_cast<size_t>(size + 2 * kGuard));
  if (guarded.memory_ == nullptr) {
    return ResourceExhausted("no memory for ", size, " bytes between guards");
  }
  std::byte* const start = guarded.memory_.get();
  for (int64_t i = 0; i < kGuard; ++i) {
    start[i] = start[kGuard + size + i] = GuardByte(i);
  }
  std::fill_n(start + kGuard, size, kGarbage);
  ASSAY_ASSIGN_OR_RETURN(guarded.tensor_,
                         Tensor::Borrow(type, shape, start + kGuard));
  return guarded;
}

Result<GuardedTensor> GuardedTensor::CopyOf(const Tensor& right) {
  ASSAY_ASSIGN_OR_RETURN(GuardedTensor guarded,
                         Filled(right.dtype(), right.shape()));
  std::ranges::copy(right.bytes(), guarded.tensor_.mutable_data());
  return guarded;
}

std::string GuardedTensor::Damage() const {
  const std::span<const std::byte> all(memory_.get(),
                                       static_cast<size_t>(size_ + 2 * kGuard));
  const int64_t before = Damaged(all.first(kGuard));
  const int64_t behind = Damaged(all.last(kGuard));
  std::string text;
  if (before > 0) text = StrCat(before, " bytes before its start");
  if (behind > 0) {
    text +=
        StrCat(text.empty() ? "" : " and ", behind, " bytes behind its end");
  }
  return text;
}

}  // namespace assay::measure

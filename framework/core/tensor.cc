// SPDX-License-Identifier: Apache-2.0

#include "framework/core/tensor.h"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace assay::inline v1 {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and an AVX-512 register

constexpr size_t kGreat = size_t{1} << 16;  // bytes

enum class Fill { kZeros, kLater };

/// Memory with zeros behind it. Not by aligned_alloc: a block of that is freed
/// as one too small for the next of its size, which would take other pages.
Result<std::shared_ptr<void>> AllocateBytes(int64_t bytes, Fill fill) {
  const auto wanted = static_cast<size_t>(bytes);
  size_t size = wanted + 2 * kAlignment;
  // In a great block calloc knows which pages are zero still.
  const bool is_clear = fill == Fill::kZeros && size >= kGreat;
  void* const taken = is_clear ? std::calloc(size, 1) : std::malloc(size);
  if (taken == nullptr) {
    return ResourceExhausted("cannot allocate ", bytes, " bytes");
  }
  void* memory = taken;
  std::align(kAlignment, wanted + kAlignment, memory, size);
  if (!is_clear) {
    const size_t given = fill == Fill::kZeros ? 0 : wanted;
    std::memset(static_cast<std::byte*>(memory) + given, 0,
                wanted + kAlignment - given);
  }
  return std::shared_ptr<void>(memory, [taken](void*) { std::free(taken); });
}

}  // namespace

Result<Tensor> Tensor::Borrow(DType type, Shape shape, void* data,
                              Device device) {
  if (type == DType::kUndefined || type == DType::kString) {
    return InvalidArgument("memory of element type ", type,
                           " cannot be borrowed");
  }
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  if (count > INT64_MAX / 16) {
    return ResourceExhausted("shape ", shape.ToString(), " is too large");
  }
  Tensor tensor;
  tensor.dtype_ = type;
  tensor.device_ = device;
  tensor.shape_ = std::move(shape);
  tensor.num_elements_ = count;
  tensor.byte_size_ = PackedBytes(type, count);
  tensor.data_ = static_cast<std::byte*>(data);
  return tensor;
}

Result<Tensor> Tensor::Allocate(DType type, Shape shape) {
  if (type == DType::kString) {
    ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
    return FromStrings(std::move(shape),
                       std::vector<std::string>(static_cast<size_t>(count)));
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Borrow(type, std::move(shape), nullptr));
  ASSAY_ASSIGN_OR_RETURN(tensor.owner_,
                         AllocateBytes(tensor.byte_size_, Fill::kZeros));
  tensor.data_ = static_cast<std::byte*>(tensor.owner_.get());
  return tensor;
}

Result<Tensor> Tensor::FromBytes(DType type, Shape shape,
                                 std::span<const std::byte> bytes) {
  // The claimed size is compared before any memory is taken for it.
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor,
                         Borrow(type, std::move(shape), nullptr));
  if (static_cast<uint64_t>(tensor.byte_size_) != bytes.size()) {
    return InvalidArgument(tensor.Signature(), " needs ", tensor.byte_size_,
                           " bytes, found ", bytes.size());
  }
  ASSAY_ASSIGN_OR_RETURN(tensor.owner_,
                         AllocateBytes(tensor.byte_size_, Fill::kLater));
  tensor.data_ = static_cast<std::byte*>(tensor.owner_.get());
  if (!bytes.empty()) std::memcpy(tensor.data_, bytes.data(), bytes.size());
  return tensor;
}

Result<Tensor> Tensor::FromStrings(Shape shape,
                                   std::vector<std::string> strings) {
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  if (static_cast<uint64_t>(count) != strings.size()) {
    return InvalidArgument("shape ", shape.ToString(), " needs ", count,
                           " strings, found ", strings.size());
  }
  Tensor tensor;
  tensor.dtype_ = DType::kString;
  tensor.shape_ = std::move(shape);
  tensor.num_elements_ = count;
  tensor.strings_ =
      std::make_shared<std::vector<std::string>>(std::move(strings));
  tensor.owner_ = tensor.strings_;
  return tensor;
}

std::span<const std::string> Tensor::strings() const {
  if (strings_ == nullptr) return {};
  return *strings_;
}

std::span<std::string> Tensor::mutable_strings() {
  if (strings_ == nullptr) return {};
  return *strings_;
}

Result<Tensor> Tensor::Clone() const {
  if (!defined()) return Tensor();
  if (device_.kind != Device::Kind::kCpu) {
    return FailedPrecondition("cannot clone device memory of ", Signature());
  }
  if (dtype_ == DType::kString) return FromStrings(shape_, *strings_);
  return FromBytes(dtype_, shape_, bytes());
}

Result<Tensor> Tensor::Reshape(Shape shape) const {
  ASSAY_ASSIGN_OR_RETURN(const int64_t count, shape.NumElements());
  if (count != num_elements_) {
    return InvalidArgument("cannot view ", Signature(), " as ",
                           shape.ToString(), ": ", num_elements_,
                           " elements against ", count);
  }
  Tensor view = *this;
  view.shape_ = std::move(shape);
  return view;
}

std::string Tensor::Signature() const {
  return StrCat(dtype_, shape_.ToString());
}

}  // namespace assay::inline v1

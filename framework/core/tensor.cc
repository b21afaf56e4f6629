// SPDX-License-Identifier: Apache-2.0

#include "framework/core/tensor.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace assay::inline v1 {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and an AVX-512 register

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

Result<std::shared_ptr<void>> AllocateZeros(int64_t bytes) {
  const auto size =
      (static_cast<size_t>(bytes) + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, size);
  if (memory == nullptr) {
    return ResourceExhausted("cannot allocate ", bytes, " bytes");
  }
  std::memset(memory, 0, size);
  return std::shared_ptr<void>(memory, Free());
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
  ASSAY_ASSIGN_OR_RETURN(tensor.owner_, AllocateZeros(tensor.byte_size_));
  tensor.data_ = static_cast<std::byte*>(tensor.owner_.get());
  return tensor;
}

Result<Tensor> Tensor::FromBytes(DType type, Shape shape,
                                 std::span<const std::byte> bytes) {
  // The claimed size is compared before any memory is taken for it.
  ASSAY_ASSIGN_OR_RETURN(const Tensor claimed, Borrow(type, shape, nullptr));
  if (static_cast<uint64_t>(claimed.byte_size_) != bytes.size()) {
    return InvalidArgument(claimed.Signature(), " needs ", claimed.byte_size_,
                           " bytes, found ", bytes.size());
  }
  ASSAY_ASSIGN_OR_RETURN(Tensor tensor, Allocate(type, std::move(shape)));
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

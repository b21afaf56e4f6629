// SPDX-License-Identifier: Apache-2.0
//
// Tensor: an element type, a shape and bytes, owned or borrowed.
//
//   ASSAY_ASSIGN_OR_RETURN(Tensor x,
//                          Tensor::Allocate(DType::kFloat32, {2, 3}));
//   std::span<float> values = x.mutable_elements<float>();
//   ASSAY_ASSIGN_OR_RETURN(Tensor y, Tensor::Borrow(DType::kFloat32, {2, 3},
//                                                   caller_memory));
//
// Elements are dense, row-major and little-endian; types narrower than a byte
// are packed (dtype.h); strings are held as std::string. Copying a Tensor
// shares its bytes, Clone copies them. A Tensor does no arithmetic.
//
// Thread rule: concurrent reads are safe, a write needs exclusive use.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/core/dtype.h"
#include "framework/core/shape.h"
#include "framework/core/status.h"

namespace assay::inline v1 {

/// Where bytes live. Only kCpu memory may be read through elements().
struct Device {
  enum class Kind : uint8_t { kCpu, kCuda } kind = Kind::kCpu;
  int32_t index = 0;

  friend bool operator==(const Device&, const Device&) = default;
};

class Tensor {
 public:
  /// The empty tensor, of no type: an absent value reads as this.
  Tensor() = default;

  /// Fresh CPU memory, 64-byte aligned, of zeros or of empty strings. Invalid
  /// argument for an undefined type or a negative extent, resource exhausted
  /// when the memory cannot be had.
  static Result<Tensor> Allocate(DType type, Shape shape);

  /// Fresh memory holding a copy of `bytes`, whose count must be exactly what
  /// type and shape need.
  static Result<Tensor> FromBytes(DType type, Shape shape,
                                  std::span<const std::byte> bytes);

  /// `strings.size()` must be the number of elements of `shape`.
  static Result<Tensor> FromStrings(Shape shape,
                                    std::vector<std::string> strings);

  /// A tensor over elements of a type of its own, in row-major order.
  template <class T>
  static Result<Tensor> Of(const Shape& shape, std::span<const T> elements) {
    static_assert(kDTypeOf<T> != DType::kUndefined);
    return FromBytes(kDTypeOf<T>, shape, std::as_bytes(elements));
  }

  /// A view of memory that the caller keeps alive for as long as the tensor
  /// or a copy of it is used. `data` holds ByteSize() bytes; not for strings.
  static Result<Tensor> Borrow(DType type, Shape shape, void* data,
                               Device device = {});

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const Device& device() const { return device_; }
  int64_t num_elements() const { return num_elements_; }
  bool defined() const { return dtype_ != DType::kUndefined; }

  /// Packed size; 0 for strings.
  int64_t byte_size() const { return byte_size_; }

  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return data_; }
  std::span<const std::byte> bytes() const {
    return {data_, static_cast<size_t>(byte_size_)};
  }

  /// Elements as T. T's size must be that of an element: it reinterprets, so
  /// that bit patterns of float16 can be read as uint16_t.
  template <class T>
  std::span<const T> elements() const {
    return {reinterpret_cast<const T*>(data_),
            static_cast<size_t>(num_elements_)};
  }
  template <class T>
  std::span<T> mutable_elements() {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(num_elements_)};
  }

  std::span<const std::string> strings() const;
  std::span<std::string> mutable_strings();

  /// A copy with memory of its own. The device must be the CPU.
  Result<Tensor> Clone() const;

  /// The same bytes under another shape with as many elements.
  Result<Tensor> Reshape(Shape shape) const;

  /// True when the bytes live as long as a Tensor that has them does.
  bool owned() const { return owner_ != nullptr; }

  /// True when no other Tensor shares the bytes, so that they may be reused.
  bool unique() const { return owner_ != nullptr && owner_.use_count() == 1; }

  /// "float32[2,3]".
  std::string Signature() const;

 private:
  DType dtype_ = DType::kUndefined;
  Device device_;
  Shape shape_;
  int64_t num_elements_ = 0;
  int64_t byte_size_ = 0;
  std::byte* data_ = nullptr;
  std::shared_ptr<std::vector<std::string>> strings_;
  std::shared_ptr<void> owner_;
};

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0
//
// The one place where element types meet computing scalars: Loaded<T> decodes
// a tensor exactly, Stored<T> encodes results, rounding each once, and
// Dispatch picks the scalar at Load.
//
//   return Dispatch(load, op.x, kFloats, [op]<class T>() {
//     return [op](KernelContext& run) -> Status {
//       const Loaded<T> x(run.input(op.x));
//       ASSAY_ASSIGN_OR_RETURN(Stored<T> y,
//                              Store<T>(run, op.y, dtype, shape));
//       for (int64_t i = 0; i < x.size(); ++i) y[i] = exp(x[i]);
//       return OkStatus();
//     };
//   });
//
// A tensor whose element type is T itself is used where it lies.

#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/reference/scalar/float_format.h"
#include "backends/reference/scalar/var.h"
#include "framework/backend/eager/kernel.h"

namespace assay::reference {

/// Memory that a kernel needs for one call, of this thread, for as long as it
/// lives. A thread keeps what its kernels gave back, so that a network that
/// runs again, as each step of a training does, asks the system for none.
std::pmr::memory_resource& ScratchMemory();

template <class T>
struct ScratchAllocator {
  using value_type = T;

  ScratchAllocator() = default;
  template <class U>
  ScratchAllocator(const ScratchAllocator<U>&) {}

  T* allocate(size_t count) {
    return static_cast<T*>(
        ScratchMemory().allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* memory, size_t count) {
    ScratchMemory().deallocate(memory, count * sizeof(T), alignof(T));
  }

  friend bool operator==(ScratchAllocator, ScratchAllocator) { return true; }
};

/// Ends in the thread that made it.
template <class T>
using Scratch = std::vector<T, ScratchAllocator<T>>;

/// The scalars that computations on an element type are done in.
enum class ScalarKind : uint8_t {
  kNone,
  kFloat,
  kDouble,
  kInt64,
  kUint64,
  kVar
};

/// float for the floating-point types of up to 32 bits, double for float64,
/// int64_t and uint64_t for integers, uint64_t for booleans (0 and 1).
ScalarKind ScalarOf(DType type);
/// The scalar of an input: Var, not float or double, in a traced network.
ScalarKind ScalarOf(const LoadContext& load, Input input);

template <class T>
inline constexpr ScalarKind kScalarOf = ScalarKind::kNone;
template <>
inline constexpr ScalarKind kScalarOf<float> = ScalarKind::kFloat;
template <>
inline constexpr ScalarKind kScalarOf<double> = ScalarKind::kDouble;
template <>
inline constexpr ScalarKind kScalarOf<int64_t> = ScalarKind::kInt64;
template <>
inline constexpr ScalarKind kScalarOf<uint64_t> = ScalarKind::kUint64;
template <>
inline constexpr ScalarKind kScalarOf<Var> = ScalarKind::kVar;

/// Where a float8e8m0, which holds powers of two, goes from between two.
enum class ScaleRounding : uint8_t { kNearest, kUp, kDown };

/// How numbers that the wanted type does not have are stored.
struct Rounding {
  Overflow overflow = Overflow::kPropagate;  // in types narrower than 32 bits
  ScaleRounding scale = ScaleRounding::kNearest;
  /// The type for which Vars stand: where it saturates, they end where it does.
  /// All other tensors have it themselves.
  DType traced = DType::kUndefined;
};

/// All elements of `tensor` as T. Every number of an element type is exact in
/// its own scalar; in another it is converted as C++ converts.
template <class T>
void Decode(const Tensor& tensor, T* values);

/// The converse. Floats are rounded once, to nearest, ties to even. A float
/// becomes an integer by truncation, integers wrap to the width of the type,
/// and a boolean is whether the value is not zero.
template <class T>
void Encode(const T* values, Tensor& tensor, const Rounding& rounding = {});

/// The bits of each element of a packed tensor, in a byte each; and back.
void UnpackCodes(const Tensor& tensor, uint8_t* codes);
void PackCodes(const uint8_t* codes, Tensor& tensor);

/// The elements of a tensor as T, for as long as the tensor lives.
template <class T>
class Loaded {
 public:
  explicit Loaded(const Tensor& tensor) : size_(tensor.num_elements()) {
    if (tensor.dtype() == kDTypeOf<T>) {
      data_ = tensor.elements<T>().data();
    } else if (tensor.defined()) {
      decoded_.resize(static_cast<size_t>(size_));
      Decode(tensor, decoded_.data());
      data_ = decoded_.data();
    }
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

  /// Null for the empty tensor that an omitted input reads as.
  const T* data() const { return data_; }
  int64_t size() const { return size_; }
  const T& operator[](int64_t i) const { return data_[i]; }

 private:
  int64_t size_;
  Scratch<T> decoded_;
  const T* data_ = nullptr;
};

/// Memory for the elements of a tensor as T, encoded into the tensor when this
/// goes out of scope. The tensor must outlive it; null: an omitted output.
template <class T>
class Stored {
 public:
  explicit Stored(Tensor* tensor) {
    if (tensor == nullptr) return;
    size_ = tensor->num_elements();
    if (tensor->dtype() == kDTypeOf<T>) {
      data_ = tensor->mutable_elements<T>().data();
    } else {
      encoded_ = tensor;
      values_.resize(static_cast<size_t>(size_));
      data_ = values_.data();
    }
  }
  Stored(Stored&& other) noexcept
      : size_(other.size_),
        values_(std::move(other.values_)),
        data_(other.data_),
        encoded_(std::exchange(other.encoded_, nullptr)) {}
  Stored& operator=(Stored&&) = delete;
  ~Stored() {
    if (encoded_ != nullptr) Encode(values_.data(), *encoded_);
  }

  /// Null for an omitted output, which has size 0.
  T* data() { return data_; }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) { return data_[i]; }

 private:
  int64_t size_ = 0;
  Scratch<T> values_;
  T* data_ = nullptr;
  Tensor* encoded_ = nullptr;
};

/// The output of this node, to be written as T.
template <class T>
Result<Stored<T>> Store(KernelContext& run, Output output, DType dtype,
                        const Shape& shape) {
  ASSAY_ASSIGN_OR_RETURN(Tensor * tensor, run.Output(output, dtype, shape));
  return Stored<T>(tensor);
}

/// The scalars that a kernel is made for, and what to call their types.
template <class... Ts>
struct Scalars {
  std::string_view wanted;
};
inline constexpr Scalars<float, double, Var> kFloats{"a floating-point type"};
inline constexpr Scalars<int64_t, uint64_t> kIntegers{"an integer type"};
inline constexpr Scalars<uint64_t> kBooleans{"booleans"};
inline constexpr Scalars<float, double, Var, int64_t, uint64_t> kNumbers{
    "a type of numbers"};

/// `unsupported`, reason dtype: the input, its type, and the wish.
Status DeclineType(const LoadContext& load, Input input,
                   std::string_view wanted);

/// A kernel, or the kernel whose forward this is.
template <class Made>
Result<Kernel> KernelFrom(Made made) {
  if constexpr (std::convertible_to<Made, Result<Kernel>>) {
    return made;
  } else {
    return Kernel{.forward = std::move(made)};
  }
}

/// The kernel that `make.operator()<T>()` returns, or its forward alone, T
/// being the scalar of the input's element type; declined when it is none of
/// Ts.
template <class... Ts, class Make>
Result<Kernel> Dispatch(const LoadContext& load, Input input,
                        const Scalars<Ts...>& scalars, Make&& make) {
  const ScalarKind kind = ScalarOf(load, input);
  Result<Kernel> kernel = DeclineType(load, input, scalars.wanted);
  static_cast<void>(
      ((kind == kScalarOf<Ts> &&
        (kernel = KernelFrom(make.template operator()<Ts>()), true)) ||
       ...));
  return kernel;
}

/// A 16-byte element, to be moved only.
struct Unit16 {
  uint64_t words[2];
};

/// Calls `body.operator()<U>()` with the unsigned integer, or pair of
/// them, as wide as an element of `type`, or std::string: for operators that
/// only move elements. False, without a call, for packed and undefined types.
template <class Body>
bool DispatchUnit(DType type, Body&& body) {
  if (type == DType::kString) {
    return body.template operator()<std::string>(), true;
  }
  switch (BitsOf(type)) {
    case 8:
      return body.template operator()<uint8_t>(), true;
    case 16:
      return body.template operator()<uint16_t>(), true;
    case 32:
      return body.template operator()<uint32_t>(), true;
    case 64:
      return body.template operator()<uint64_t>(), true;
    case 128:
      return body.template operator()<Unit16>(), true;
    default:
      return false;
  }
}

/// The elements as units of the kind that DispatchUnit found.
template <class Unit>
const Unit* Units(const Tensor& tensor) {
  if constexpr (std::same_as<Unit, std::string>) {
    return tensor.strings().data();
  } else {
    return tensor.elements<Unit>().data();
  }
}
template <class Unit>
Unit* MutableUnits(Tensor& tensor) {
  if constexpr (std::same_as<Unit, std::string>) {
    return tensor.mutable_strings().data();
  } else {
    return tensor.mutable_elements<Unit>().data();
  }
}

/// OK when the input is a tensor of elements of whole bytes, or of strings.
Status CheckMovable(const LoadContext& load, Input input);

/// A scalar for the few operators of ONNX that permit complex numbers and do
/// more than move elements. Sums and products are computed in double and each
/// part is rounded once when stored.
using Complex = std::complex<double>;

inline bool IsComplex(DType type) {
  return ClassOf(type) == DTypeClass::kComplex;
}

/// For Loaded<Complex> and Stored<Complex>, of complex64 and complex128 only.
template <>
void Decode(const Tensor& tensor, Complex* values);
template <>
void Encode(const Complex* values, Tensor& tensor, const Rounding& rounding);

}  // namespace assay::reference

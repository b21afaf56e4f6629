// SPDX-License-Identifier: Apache-2.0
//
// InlineVector: a vector whose first kInside elements lie in the object, so
// that a short one asks for no memory.
//
//   InlineVector<int64_t, 8> strides(3, 1);
//   strides.push_back(0);  // 1, 1, 1, 0

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::inline v1 {

/// The elements are copied as bytes and default constructible.
template <class T, size_t kInside>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  InlineVector() = default;
  explicit InlineVector(size_t count, const T& value = {}) {
    resize(count, value);
  }
  InlineVector(std::initializer_list<T> elements)
      : InlineVector(std::span<const T>(elements)) {}
  explicit InlineVector(std::span<const T> elements) {
    resize(elements.size());
    std::ranges::copy(elements, data());
  }

  InlineVector(const InlineVector&) = default;
  InlineVector& operator=(const InlineVector&) = default;
  /// A vector that was moved from is empty.
  InlineVector(InlineVector&& from) noexcept
      : size_(std::exchange(from.size_, 0)),
        inside_(from.inside_),
        outside_(std::exchange(from.outside_, {})) {}
  InlineVector& operator=(InlineVector&& from) noexcept {
    inside_ = from.inside_;
    outside_ = std::exchange(from.outside_, {});
    size_ = std::exchange(from.size_, 0);
    return *this;
  }
  ~InlineVector() = default;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ > kInside ? outside_.data() : inside_.data(); }
  const T* data() const {
    return size_ > kInside ? outside_.data() : inside_.data();
  }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void resize(size_t count, const T& value = {});
  void push_back(const T& value) { resize(size_ + 1, value); }
  void insert(const T* at, const T& value) { insert(at, &value, &value + 1); }
  /// The elements must not be of this vector.
  template <std::input_iterator From>
  void insert(const T* at, From first, From last) {
    const std::ptrdiff_t place = at - begin();
    const auto before = static_cast<std::ptrdiff_t>(size_);
    for (; first != last; ++first) push_back(*first);
    std::rotate(begin() + place, begin() + before, end());
  }
  void erase(const T* at) {
    const std::ptrdiff_t place = at - begin();
    std::copy(begin() + place + 1, end(), begin() + place);
    resize(size_ - 1);
  }

  /// A copy, for interfaces that take one.
  operator std::vector<T>() const { return {begin(), end()}; }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::ranges::equal(a, b);
  }

 private:
  size_t size_ = 0;
  std::array<T, kInside> inside_ = {};
  std::vector<T> outside_;  // all of them, where they are more than kInside
};

template <class T, size_t kInside>
void InlineVector<T, kInside>::resize(size_t count, const T& value) {
  const T filler = value;  // may be an element
  const size_t before = size_;
  if (count > kInside) {
    if (before <= kInside) {
      outside_.assign(inside_.begin(),
                      inside_.begin() + static_cast<std::ptrdiff_t>(before));
    }
    outside_.resize(count, filler);
  } else {
    if (before > kInside) std::copy_n(outside_.begin(), count, inside_.begin());
    for (size_t i = before; i < count; ++i) inside_[i] = filler;
    outside_.clear();
  }
  size_ = count;
}

}  // namespace assay::inline v1

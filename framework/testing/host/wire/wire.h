// SPDX-License-Identifier: Apache-2.0
//
// Writer and Reader: what the interface of a backend carries, as bytes:
// numbers, texts, types, values of every kind, statuses. Both ends are of one
// release, so the form has no versions; numbers are little-endian.
//
//   Writer out;
//   out.Put(uint64_t{7});
//   out.Put(value);
//   Reader in(out.bytes());
//   const auto seven = in.Number();
//   const Value same = in.Read<Value>();
//   ASSAY_RETURN_IF_ERROR(in.Fault());
//
// A Reader trusts nothing: what the other side wrote may be cut, or written to
// do harm. Behind the first fault it reads zeros and empty things, and Status
// says what was wrong.

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/core/value.h"

namespace assay::wire {

/// A place in memory that both sides have mapped.
struct Place {
  uint32_t segment = 0;
  uint64_t offset = 0;
};

class Writer {
 public:
  /// Where both sides see the bytes of a tensor already; nothing where they do
  /// not, and the bytes are written.
  using Find = std::function<std::optional<Place>(const Tensor&)>;

  explicit Writer(Find find = nullptr) : find_(std::move(find)) {}

  void Put(uint64_t number);
  void Put(std::string_view text);
  void Put(const Place& place);
  void Put(const Status& status);
  void Put(const ValueType& type);
  void Put(const ValueInfo& info);
  void Put(const Shape& shape);
  void Put(const Tensor& tensor);
  void Put(const Value& value);
  void Put(const LoadOptions& options);
  void Put(const PlacedNode& node);
  void Put(double number);
  void Put(std::same_as<bool> auto flag) { Put(uint64_t{flag ? 1U : 0U}); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Put(Enum word) { Put(static_cast<uint64_t>(word)); }
  /// A count, then each name and what it names.
  template <class Item>
  void Put(const std::map<std::string, Item>& items) {
    Put(uint64_t{items.size()});
    for (const auto& [name, item] : items) Put(name, item);
  }
  /// A count, then each.
  template <class Item>
  void Put(std::span<const Item> items) {
    Put(uint64_t{items.size()});
    for (const Item& item : items) Put(item);
  }
  template <class Item>
  void Put(const std::vector<Item>& items) {
    Put(std::span<const Item>(items));
  }
  /// Each in turn.
  template <class First, class Second, class... More>
  void Put(const First& first, const Second& second, const More&... more) {
    Put(first);
    Put(second, more...);
  }

  /// Appends the bytes of another writer.
  void Append(const Writer& other) { bytes_ += other.bytes_; }

  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  void PutBytes(const void* from, size_t count);

  Find find_;
  std::string bytes_;
};

/// A writer into which these items were put.
template <class... Items>
Writer Written(const Items&... items) {
  Writer out;
  out.Put(items...);
  return out;
}

class Reader {
 public:
  /// The memory at a place, of that size; null when there is none.
  using At = std::function<std::byte*(Place, uint64_t size)>;

  explicit Reader(std::string_view bytes, At at = nullptr)
      : left_(bytes), at_(std::move(at)) {}

  uint64_t Number() { return Read<uint64_t>(); }
  bool Flag() { return Number() != 0; }
  std::string Text() { return Read<std::string>(); }
  /// Reads whatever Writer::Put takes, but for a Shape.
  template <class T>
  T Read() {
    T item = {};
    Get(&item);
    return item;
  }
  template <class T>
  std::vector<T> ReadAll() {
    std::vector<T> items;
    // Each item takes a byte or more, whatever the count says.
    for (uint64_t n = Number(); n > 0 && fault_.empty(); --n) {
      items.push_back(Read<T>());
    }
    return items;
  }

  template <class T>
  std::map<std::string, T> ReadMap() {
    std::map<std::string, T> items;
    for (uint64_t n = Number(); n > 0 && fault_.empty(); --n) {
      std::string name = Text();
      items[std::move(name)] = Read<T>();
    }
    return items;
  }

  /// Data loss, when something could not be read or there is more than was.
  assay::Status Fault() const;
  /// True behind the first fault.
  bool faulty() const { return !fault_.empty(); }
  bool AtEnd() const { return left_.empty(); }
  /// Notes a fault of whoever reads.
  void Refuse(std::string_view fault);

 private:
  void Get(uint64_t* number) { GetBytes(number, sizeof *number); }
  void Get(double* number) { GetBytes(number, sizeof *number); }
  void Get(std::string* text) { *text = Take(Number()); }
  void Get(Place* place);
  void Get(Status* status);
  void Get(ValueType* type) { *type = ReadType(0); }
  void Get(ValueInfo* info);
  void Get(Tensor* tensor) { *tensor = ReadTensor(); }
  void Get(Value* value) { *value = ReadValue(0); }
  void Get(LoadOptions* options);
  void Get(PlacedNode* node);
  template <class T>
  void Get(std::vector<T>* items) {
    *items = ReadAll<T>();
  }
  void GetBytes(void* into, size_t count);
  std::string_view Take(uint64_t count);
  Shape ReadShape();
  Tensor ReadTensor();
  ValueType ReadType(int depth);
  Value ReadValue(int depth);

  std::string_view left_;
  At at_;
  std::string fault_;
};

}  // namespace assay::wire

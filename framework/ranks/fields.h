// SPDX-License-Identifier: Apache-2.0
//
// The fields of a struct as words of 8 bytes, the way in which a state crosses
// from one process to another: no padding, no layout of a compiler. A struct
// names its fields in a function beside it.
//
//   struct Ended {
//     int64_t steps = 0;
//     double loss = 0;
//   };
//   constexpr void EachField(Ended& ended, const auto& visit) {
//     VisitEach(visit, ended.steps, ended.loss);
//   }
//
// A text of them is read from its front:
//
//   AppendFields(ended, &text);
//   if (!CutFields(&rest, &ended)) return DataLoss("found no end of a run");

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace assay::ranks {

constexpr void VisitEach(const auto& visit, auto&... fields) {
  (visit(fields), ...);
}

/// A double by its bits, any other number or an enumerator by its value.
template <class T>
constexpr uint64_t WordOf(T field) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<uint64_t>(double{field});
  } else {
    return static_cast<uint64_t>(field);
  }
}

/// False for a word that WordOf gives for no value of the type.
template <class T>
constexpr bool FromWord(uint64_t word, T* field) {
  if constexpr (std::is_floating_point_v<T>) {
    *field = static_cast<T>(std::bit_cast<double>(word));
  } else {
    *field = static_cast<T>(word);
  }
  return WordOf(*field) == word;
}

template <class T>
constexpr size_t FieldsOf() {
  T value{};
  size_t fields = 0;
  EachField(value, [&](auto&) { ++fields; });
  return fields;
}

template <class T>
inline constexpr size_t kFieldBytes = sizeof(uint64_t) * FieldsOf<T>();

/// Writes kFieldBytes<T> bytes, the least significant of each word first.
template <class T>
void PutFields(T value, std::byte* to) {
  EachField(value, [&](auto& field) {
    uint64_t word = WordOf(field);
    for (size_t i = 0; i < sizeof word; ++i, word >>= 8) {
      *to++ = static_cast<std::byte>(word);
    }
  });
}

/// Reads kFieldBytes<T> bytes. False for a field that its type has not.
template <class T>
bool GetFields(const std::byte* from, T* value) {
  bool fits = true;
  EachField(*value, [&](auto& field) {
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof word; ++i) {
      word |= std::to_integer<uint64_t>(*from++) << (8 * i);
    }
    fits = FromWord(word, &field) && fits;
  });
  return fits;
}

template <class T>
void AppendFields(const T& value, std::string* text) {
  const size_t before = text->size();
  text->resize(before + kFieldBytes<T>);
  PutFields(value, reinterpret_cast<std::byte*>(text->data() + before));
}

/// Takes the fields off the front. False as GetFields, and for too few bytes.
template <class T>
bool CutFields(std::string_view* text, T* value) {
  if (text->size() < kFieldBytes<T>) return false;
  const bool fits =
      GetFields(reinterpret_cast<const std::byte*>(text->data()), value);
  text->remove_prefix(kFieldBytes<T>);
  return fits;
}

}  // namespace assay::ranks

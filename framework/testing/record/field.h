// SPDX-License-Identifier: Apache-2.0
//
// Fields: what a member of a row may be, and its text in files. An enumeration
// is a field when it has a ToString and a ParseWord.
//
//   FieldText(Outcome::kFail);            // "fail"
//   ParseField("0.5", &row.headroom);     // true
//
// Empty text is an absent optional and an empty list. No text of a list is
// empty.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "framework/file/csv.h"

namespace assay::record {

using Integer = std::optional<int64_t>;
using Number = std::optional<double>;
using IndexList = std::vector<int64_t>;     // "0 2"
using TextList = std::vector<std::string>;  // a record of CSV: a,"b,c"

template <class T>
concept Enumeration = std::is_enum_v<T>;

inline std::string FieldText(const std::string& value) { return value; }
inline std::string FieldText(bool value) { return value ? "1" : "0"; }
inline std::string FieldText(int64_t value) { return file::ToText(value); }
inline std::string FieldText(double value) { return file::ToText(value); }
std::string FieldText(const IndexList& value);
std::string FieldText(const TextList& value);
inline std::string FieldText(const std::filesystem::path& value) {
  return value.string();
}
template <Enumeration T>
std::string FieldText(T value) {
  return std::string(ToString(value));
}
template <class T>
std::string FieldText(const std::optional<T>& value) {
  return value.has_value() ? FieldText(*value) : std::string();
}

/// True when the text fits.
bool ParseField(const std::string& text, std::string* value);
bool ParseField(const std::string& text, bool* value);
bool ParseField(const std::string& text, int64_t* value);
bool ParseField(const std::string& text, double* value);
bool ParseField(const std::string& text, IndexList* value);
bool ParseField(const std::string& text, TextList* value);
bool ParseField(const std::string& text, std::filesystem::path* value);
template <Enumeration T>
bool ParseField(const std::string& text, T* value) {
  return ParseWord(text, value);
}
template <class T>
bool ParseField(const std::string& text, std::optional<T>* value) {
  value->reset();
  return text.empty() || ParseField(text, &value->emplace());
}

/// The name of a field's type in the schema.
template <class T>
constexpr std::string_view kFieldType = "text";
template <>
inline constexpr std::string_view kFieldType<bool> = "flag";
template <>
inline constexpr std::string_view kFieldType<int64_t> = "integer";
template <>
inline constexpr std::string_view kFieldType<Integer> = "integer or empty";
template <>
inline constexpr std::string_view kFieldType<double> = "number";
template <>
inline constexpr std::string_view kFieldType<Number> = "number or empty";
template <>
inline constexpr std::string_view kFieldType<TextList> = "list of texts";

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/field.h"

#include <algorithm>

namespace assay::record {
namespace {

template <class T>
bool Take(const std::optional<T>& parsed, T* value) {
  *value = parsed.value_or(T());
  return parsed.has_value();
}

}  // namespace

std::string FieldText(const IndexList& value) {
  std::string text;
  for (const int64_t index : value) {
    if (!text.empty()) text += ' ';
    text += file::ToText(index);
  }
  return text;
}

std::string FieldText(const TextList& value) {
  std::string text;
  for (std::string_view before; const std::string& item : value) {
    text += before;
    file::AppendCsvField(text, item);
    before = ",";
  }
  return text;
}

bool ParseField(const std::string& text, std::string* value) {
  *value = text;
  return true;
}

bool ParseField(const std::string& text, std::filesystem::path* value) {
  *value = text;
  return true;
}

bool ParseField(const std::string& text, TextList* value) {
  value->clear();
  if (text.empty()) return true;
  file::CsvReader reader(text);
  TextList more;
  return reader.Next(value) && !reader.Next(&more) && reader.status().ok();
}

bool ParseField(const std::string& text, bool* value) {
  *value = text == "1";
  return text == "1" || text == "0";
}

bool ParseField(const std::string& text, int64_t* value) {
  return Take(file::ParseInt(text), value);
}

bool ParseField(const std::string& text, double* value) {
  return Take(file::ParseDouble(text), value);
}

bool ParseField(const std::string& text, IndexList* value) {
  value->clear();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const auto index =
        file::ParseInt(std::string_view(text).substr(at, end - at));
    if (!index.has_value()) return false;
    value->push_back(*index);
    at = end + 1;
  }
  return true;
}

}  // namespace assay::record

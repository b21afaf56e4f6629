// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/field.h"

namespace assay::record {
namespace {

template <class T>
bool Take(const std::optional<T>& parsed, T* value) {
  *value = parsed.value_or(T());
  return parsed.has_value();
}

}  // namespace

std::string FieldText(const IndexList& value) {
  return Joined(value, " ", [](int64_t index) { return file::ToText(index); });
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
  for (std::string_view rest = text; !rest.empty();) {
    const auto index = file::ParseInt(CutFront(&rest, " "));
    if (!index.has_value()) return false;
    value->push_back(*index);
  }
  return true;
}

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0

#include "framework/file/csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace assay::file {
namespace {

template <class T>
std::string Shortest(T value) {
  std::array<char, 32> buffer;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

template <class T>
std::optional<T> Parse(std::string_view text) {
  T value;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

bool NeedsQuotes(char c) {
  return c == ',' || c == '"' || c == '\n' || c == '\r';
}

/// True for a text that a spreadsheet would take for a formula, behind the
/// apostrophes that keep it from that.
bool IsFormula(std::string_view text) {
  constexpr std::string_view kBegin = "=+-@";
  const size_t begin = std::min(text.find_first_not_of('\''), text.size());
  text.remove_prefix(begin);
  return text.size() > 1 && kBegin.find(text[0]) != std::string_view::npos &&
         !Parse<double>(text).has_value();
}

}  // namespace

void AppendCsvField(std::string& out, std::string_view text) {
  const std::string_view kept = IsFormula(text) ? "'" : "";
  if (std::ranges::none_of(text, NeedsQuotes)) {
    out.append(kept).append(text);
    return;
  }
  out += '"';
  out += kept;
  for (size_t quote = text.find('"'); quote != std::string_view::npos;
       quote = text.find('"')) {
    out.append(text.substr(0, quote + 1)) += '"';
    text.remove_prefix(quote + 1);
  }
  out.append(text) += '"';
}

std::string ToText(double value) {
  if (std::isnan(value)) return "nan";
  return Shortest(value);
}

std::string ToText(int64_t value) { return Shortest(value); }

std::optional<double> ParseDouble(std::string_view text) {
  return Parse<double>(text);
}

std::optional<int64_t> ParseInt(std::string_view text) {
  return Parse<int64_t>(text);
}

bool CsvReader::ReadQuoted(std::string* field) {
  ++position_;
  for (size_t quote = text_.find('"', position_);
       quote != std::string_view::npos; quote = text_.find('"', position_)) {
    const std::string_view part = text_.substr(position_, quote - position_);
    next_line_ += std::ranges::count(part, '\n');
    field->append(part);
    position_ = quote + 1;
    if (position_ == text_.size() || text_[position_] != '"') return true;
    *field += '"';
    ++position_;
  }
  status_ = DataLoss("line ", line_, ": a quoted field is not closed");
  return false;
}

bool CsvReader::Next(std::vector<std::string>* fields) {
  fields->clear();
  if (!status_.ok() || position_ >= text_.size()) return false;
  line_ = next_line_;
  while (true) {
    std::string& field = fields->emplace_back();
    if (position_ < text_.size() && text_[position_] == '"') {
      if (!ReadQuoted(&field)) return false;
    } else {
      // A loop, because find_first_of calls memchr for every character.
      size_t end = position_;
      while (end < text_.size() && text_[end] != ',' && text_[end] != '\n') {
        ++end;
      }
      if (end > position_ && text_.substr(end - 1, 2) == "\r\n") --end;
      field = text_.substr(position_, end - position_);
      position_ = end;
    }
    if (field.starts_with('\'') && IsFormula(field)) field.erase(0, 1);
    if (text_.substr(position_, 2) == "\r\n") ++position_;
    if (position_ >= text_.size()) return true;
    const char separator = text_[position_++];
    if (separator == '\n') {
      ++next_line_;
      return true;
    }
    if (separator != ',') {
      status_ = DataLoss("line ", line_, ": found '", separator,
                         "' behind a quoted field, wanted a comma");
      return false;
    }
  }
}

}  // namespace assay::file

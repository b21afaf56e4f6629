// SPDX-License-Identifier: Apache-2.0
//
// CSV as RFC 4180 has it, with '\n' line ends: fields with a comma, a quote or
// a line break are quoted, quotes inside are doubled. Numbers are the shortest
// decimals that read back as the same value. A text that begins with = + - or @
// and is no number has an apostrophe before it, which keeps spreadsheets from
// computing it, and which reading takes off.
//
//   std::string out;
//   AppendCsvField(out, "a \"b\", c");     // "a ""b"", c"
//   CsvReader reader(text);
//   while (reader.Next(&fields)) Use(fields);
//   ASSAY_RETURN_IF_ERROR(reader.status());

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::file {

void AppendCsvField(std::string& out, std::string_view text);

/// Shortest round trip; "nan", "inf" and "-inf".
std::string ToText(double value);
std::string ToText(int64_t value);

std::optional<double> ParseDouble(std::string_view text);
std::optional<int64_t> ParseInt(std::string_view text);

/// Splits text into records, whose lines may also end as "\r\n". The text must
/// outlive the reader.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  /// The next record's fields; false at the end or at an error.
  bool Next(std::vector<std::string>* fields);

  /// The line, from 1, on which the last record began.
  int64_t line() const { return line_; }
  /// Data loss, with the line, for an unclosed quote or text behind one.
  const Status& status() const { return status_; }

 private:
  bool ReadQuoted(std::string* field);

  std::string_view text_;
  size_t position_ = 0;
  int64_t line_ = 0;
  int64_t next_line_ = 1;
  Status status_;
};

}  // namespace assay::file

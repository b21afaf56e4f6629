// SPDX-License-Identifier: Apache-2.0
//
// Text from outside, as every reader of a record can take it: what a backend,
// a model or a policy says may hold any bytes, and as many as it likes.
//
//   row.message = CleanText(status.message());
//   AppendCsvRow(lines, Cleaned(row));

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "framework/core/status.h"
#include "framework/testing/record/columns.h"

namespace assay::record {

inline constexpr size_t kMostText = 4096;  // bytes of a field

/// `text` in UTF-8, without what XML 1.0 has no way to write: a '?' in the
/// place of each byte that is no UTF-8 or of a control character other than
/// newline and tab. A text of more than kMostText bytes is cut behind a whole
/// character and says how long it was, in at most kMostText bytes.
std::string CleanText(std::string_view text);

/// The text on one line, each newline and tab a space, in at most `most` bytes:
/// what is longer is cut behind a whole character and says how many bytes were
/// left out. `text` is clean.
std::string OneLine(std::string_view text, size_t most);

/// Invalid argument, with the path, when it is not such a text: it would stand
/// in tables and commands.
Status CheckPath(const std::filesystem::path& path);

/// The row with clean texts. Its key stays as it is, since it names a case.
template <class Row>
Row Cleaned(Row row) {
  const Table& table = TableOf<Row>();
  for (size_t i = table.n_key; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (column.type != kFieldType<std::string>) continue;
    column.parse(CleanText(column.text(&row)), &row);
  }
  return row;
}

}  // namespace assay::record

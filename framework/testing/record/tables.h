// SPDX-License-Identifier: Apache-2.0
//
// Tables as text. From their columns (columns.h) come the CSV writer and
// reader, the schema file that reports validate against, and the reference
// page. Adding a column is allowed, renaming one is not. An absent optional is
// an empty field: not measured. Units are in the names.
//
// Text from outside is cleaned, so that every reader can take it: a backend, a
// model or a policy may say any bytes, and as many as it likes.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/csv.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/rows.h"

namespace assay::record {

std::string CsvHeader(const Table& table);

/// The fields of the columns from `begin` to `end`, without an end of line.
void AppendCsvFields(std::string& out, const Table& table, const void* row,
                     size_t begin, size_t end);

/// Reads fields, of which the first is that of column `begin`. Data loss naming
/// the column of a field that is missing or does not fit.
Status ParseFields(const std::vector<std::string>& fields, const Table& table,
                   size_t begin, void* row);

/// Reads a file with a header, whose columns may stand in any order and may be
/// more; each row into what `next` gives. Data loss naming the line, or the
/// column that is missing.
Status ParseCsv(std::string_view text, const Table& table,
                const std::function<void*()>& next);

template <class Row>
std::string CsvHeader() {
  return CsvHeader(TableOf<Row>());
}

template <class Row>
void AppendCsvRow(std::string& out, const Row& row) {
  const Table& table = TableOf<Row>();
  AppendCsvFields(out, table, &row, 0, table.columns.size());
  out += '\n';
}

template <class Row>
Result<std::vector<Row>> ParseCsv(std::string_view text) {
  std::vector<Row> rows;
  const Status status =
      ParseCsv(text, TableOf<Row>(), [&] { return &rows.emplace_back(); });
  if (!status.ok()) return status;
  return rows;
}

template <class Row>
std::string ToCsv(const std::vector<Row>& rows) {
  std::string text = CsvHeader<Row>();
  for (const Row& row : rows) AppendCsvRow(text, row);
  return text;
}

/// {"schema": 1, "tables": {"results": [{"name", "type", "doc"}, ...]},
/// "reasons": {code: meaning}}, the file reports/assay_report/schema.json.
std::string SchemaJson();

/// The reference page docs of all tables, as Markdown.
std::string SchemaMarkdown();

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

// SPDX-License-Identifier: Apache-2.0
//
// Tables as text. From their columns (columns.h) come the CSV writer and
// reader, the schema file that reports validate against, and the reference
// page.
//
//   ResultRow row;
//   row.test_id = "node/Abs/test_abs";
//   std::string csv = CsvHeader<ResultRow>();
//   AppendCsvRow(csv, row);
//   ASSAY_ASSIGN_OR_RETURN(auto rows, ParseCsv<ResultRow>(csv));
//
// Adding a column is allowed, renaming one is not. An absent optional is an
// empty field: not measured. Units are in the names.

#pragma once

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

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0
//
// The tables of a run folder. From their rows and columns come the CSV writer
// and reader, the journal, the schema file that reports validate against, and
// the reference page.
//
//   ResultRow row;
//   row.test_id = "node/Abs/test_abs";
//   std::string csv = CsvHeader<ResultRow>();
//   AppendCsvRow(csv, row);
//   ASSAY_ASSIGN_OR_RETURN(auto rows, ParseCsv<ResultRow>(csv));
//
// Adding a column is allowed, renaming one is not. An absent optional is an
// empty field: not measured. Units are in the names.

#ifndef ASSAY_TESTING_RECORD_TABLES_H_
#define ASSAY_TESTING_RECORD_TABLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/csv.h"
#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

/// The text of a field, and back. Empty text is an absent optional.
inline std::string FieldText(const std::string& value) { return value; }
inline std::string FieldText(bool value) { return value ? "1" : "0"; }
inline std::string FieldText(int64_t value) { return ToText(value); }
template <class T>
std::string FieldText(const std::optional<T>& value) {
  return value.has_value() ? ToText(*value) : std::string();
}

bool ParseField(const std::string& text, std::string* value);
bool ParseField(const std::string& text, bool* value);
bool ParseField(const std::string& text, int64_t* value);
bool ParseField(const std::string& text, std::optional<int64_t>* value);
bool ParseField(const std::string& text, std::optional<double>* value);

// What follows is there for every row of rows.h.

template <class Row>
std::string CsvHeader();

template <class Row>
void AppendCsvRow(std::string& out, const Row& row);

/// Where each column of a table stands in a file.
using ColumnOrder = std::vector<size_t>;

/// The order in `header`; data loss naming the column when one is missing.
/// Columns that the table does not know are skipped.
Status FindColumns(const std::vector<std::string>& header,
                   const std::vector<std::string_view>& wanted,
                   ColumnOrder* order);

template <class Row>
std::vector<std::string_view> ColumnNames();

/// The columns in the table's own order, as the journal has them.
template <class Row>
ColumnOrder OwnOrder();

/// Data loss naming the column of a field that is missing or does not fit.
template <class Row>
Status ParseRow(const std::vector<std::string>& fields,
                const ColumnOrder& order, Row* row);

/// All rows of a file with a header.
template <class Row>
Result<std::vector<Row>> ParseCsv(std::string_view text);

template <class Row>
std::string ToCsv(const std::vector<Row>& rows);

/// {"schema": 1, "tables": {"results": [{"name", "type", "doc"}, ...]}}, the
/// file reports/assay_report/schema.json.
std::string SchemaJson();

/// The reference page docs of all tables, as Markdown.
std::string SchemaMarkdown();

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_RECORD_TABLES_H_

// SPDX-License-Identifier: Apache-2.0
//
// The tables of a run folder, defined once. From these rows and columns come
// the CSV writer and reader, the journal, the schema file that reports validate
// against, and the reference page.
//
//   ResultRow row;
//   row.test_id = "node/Abs/test_abs";
//   std::string csv = CsvHeader<ResultRow>();
//   AppendCsvRow(csv, row);
//   ASSAY_ASSIGN_OR_RETURN(auto rows, ParseCsv<ResultRow>(csv));
//
// Adding a column is allowed, renaming one is not. An absent optional is an
// empty field: not measured. Units are in the names.

#ifndef ASSAY_TESTING_TABLES_H_
#define ASSAY_TESTING_TABLES_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/csv.h"
#include "framework/testing/rows.h"

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

/// Calls `visit(column)` for every column of Row, in order. A column has name,
/// member (a pointer) and doc.
template <class Row, class Visit>
void ForEachColumn(Visit&& visit) {
  std::apply([&](const auto&... column) { (visit(column), ...); },
             TableOf<Row>::kColumns);
}

template <class Row>
std::string CsvHeader() {
  std::string line;
  ForEachColumn<Row>([&](const auto& column) {
    if (!line.empty()) line += ',';
    line += column.name;
  });
  return line + "\n";
}

template <class Row>
void AppendCsvRow(std::string& out, const Row& row) {
  bool first = true;
  ForEachColumn<Row>([&](const auto& column) {
    if (!first) out += ',';
    first = false;
    AppendCsvField(out, FieldText(row.*column.member));
  });
  out += '\n';
}

/// Where each column of a table stands in a file.
using ColumnOrder = std::vector<size_t>;

/// The order in `header`; data loss naming the column when one is missing.
/// Columns that the table does not know are skipped.
Status FindColumns(const std::vector<std::string>& header,
                   const std::vector<std::string_view>& wanted,
                   ColumnOrder* order);

template <class Row>
std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names;
  ForEachColumn<Row>([&](const auto& column) { names.push_back(column.name); });
  return names;
}

/// The columns in the table's own order, as the journal has them.
template <class Row>
ColumnOrder OwnOrder() {
  ColumnOrder order(ColumnNames<Row>().size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

template <class Row>
Status ParseRow(const std::vector<std::string>& fields,
                const ColumnOrder& order, Row* row) {
  Status status;
  size_t i = 0;
  ForEachColumn<Row>([&](const auto& column) {
    const size_t at = order[i++];
    if (!status.ok()) return;
    if (at >= fields.size()) {
      status = DataLoss("column ", column.name, " is missing: the row has ",
                        fields.size(), " fields");
    } else if (!ParseField(fields[at], &(row->*column.member))) {
      status =
          DataLoss("column ", column.name, " cannot hold '", fields[at], "'");
    }
  });
  return status;
}

/// All rows of a file with a header.
template <class Row>
Result<std::vector<Row>> ParseCsv(std::string_view text) {
  CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields)) {
    ASSAY_RETURN_IF_ERROR(reader.status());
    return DataLoss("the table ", TableOf<Row>::kName, " has no header");
  }
  ColumnOrder order;
  ASSAY_RETURN_IF_ERROR(FindColumns(fields, ColumnNames<Row>(), &order));
  std::vector<Row> rows;
  while (reader.Next(&fields)) {
    const Status status = ParseRow(fields, order, &rows.emplace_back());
    if (!status.ok()) {
      return status.WithContext(
          StrCat(TableOf<Row>::kName, " line ", reader.line()));
    }
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  return rows;
}

template <class Row>
std::string ToCsv(const std::vector<Row>& rows) {
  std::string text = CsvHeader<Row>();
  for (const Row& row : rows) AppendCsvRow(text, row);
  return text;
}

/// {"schema": 1, "tables": {"results": [{"name", "type", "doc"}, ...]}}, the
/// file reports/assay_report/schema.json.
std::string SchemaJson();

/// The reference page docs of all tables, as Markdown.
std::string SchemaMarkdown();

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_TABLES_H_

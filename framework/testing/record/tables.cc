// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/tables.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "framework/testing/record/columns.h"

namespace assay::inline v1 {
namespace {

template <class T>
constexpr std::string_view kTypeName = "text";
template <>
constexpr std::string_view kTypeName<bool> = "flag";
template <>
constexpr std::string_view kTypeName<int64_t> = "integer";
template <>
constexpr std::string_view kTypeName<Integer> = "integer or empty";
template <>
constexpr std::string_view kTypeName<Number> = "number or empty";

/// Calls `visit(table name, row type tag)` for every table, in file order.
template <class Visit>
void ForEachTable(Visit&& visit) {
#define ASSAY_TABLE_(Row) visit(TableOf<Row>());
  ASSAY_TABLES_(ASSAY_TABLE_)
#undef ASSAY_TABLE_
}

template <class Table, class Visit>
void ForEachColumnText(const Table&, Visit&& visit) {
  typename Table::Row row;
  ForEachField(row, [&]<class Field>(const auto& column, const Field&) {
    visit(column.name, kTypeName<Field>, column.doc);
  });
}

}  // namespace

bool ParseField(const std::string& text, std::string* value) {
  *value = text;
  return true;
}

bool ParseField(const std::string& text, bool* value) {
  *value = text == "1";
  return text == "1" || text == "0";
}

bool ParseField(const std::string& text, int64_t* value) {
  const std::optional<int64_t> parsed = ParseInt(text);
  *value = parsed.value_or(0);
  return parsed.has_value();
}

bool ParseField(const std::string& text, std::optional<int64_t>* value) {
  *value = ParseInt(text);
  return text.empty() || value->has_value();
}

bool ParseField(const std::string& text, std::optional<double>* value) {
  *value = ParseDouble(text);
  return text.empty() || value->has_value();
}

Status FindColumns(const std::vector<std::string>& header,
                   const std::vector<std::string_view>& wanted,
                   ColumnOrder* order) {
  order->clear();
  for (const std::string_view name : wanted) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) {
      return DataLoss("the header lacks the column ", name);
    }
    order->push_back(static_cast<size_t>(found - header.begin()));
  }
  return OkStatus();
}

template <class Row>
std::string CsvHeader() {
  std::string line;
  for (const std::string_view name : ColumnNames<Row>()) {
    if (!line.empty()) line += ',';
    line += name;
  }
  return line + "\n";
}

template <class Row>
void AppendCsvRow(std::string& out, const Row& row) {
  bool first = true;
  ForEachField(row, [&](const auto&, const auto& field) {
    if (!first) out += ',';
    first = false;
    AppendCsvField(out, FieldText(field));
  });
  out += '\n';
}

template <class Row>
std::vector<std::string_view> ColumnNames() {
  std::vector<std::string_view> names;
  for (const auto& column : TableOf<Row>::Columns()) {
    names.push_back(column.name);
  }
  return names;
}

template <class Row>
ColumnOrder OwnOrder() {
  ColumnOrder order(TableOf<Row>::Columns().size());
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

template <class Row>
Status ParseRow(const std::vector<std::string>& fields,
                const ColumnOrder& order, Row* row) {
  Status status;
  size_t i = 0;
  ForEachField(*row, [&](const auto& column, auto& field) {
    const size_t at = order[i++];
    if (!status.ok()) return;
    if (at >= fields.size()) {
      status = DataLoss("column ", column.name, " is missing: the row has ",
                        fields.size(), " fields");
    } else if (!ParseField(fields[at], &field)) {
      status =
          DataLoss("column ", column.name, " cannot hold '", fields[at], "'");
    }
  });
  return status;
}

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

#define ASSAY_TABLE_(Row)                                       \
  template std::string CsvHeader<Row>();                        \
  template void AppendCsvRow(std::string&, const Row&);         \
  template std::vector<std::string_view> ColumnNames<Row>();    \
  template ColumnOrder OwnOrder<Row>();                         \
  template Status ParseRow(const std::vector<std::string>&,     \
                           const ColumnOrder&, Row*);           \
  template Result<std::vector<Row>> ParseCsv(std::string_view); \
  template std::string ToCsv(const std::vector<Row>&);
ASSAY_TABLES_(ASSAY_TABLE_)
#undef ASSAY_TABLE_

std::string SchemaJson() {
  // Names and meanings are plain ASCII without quotes, so they need no escapes.
  std::string text =
      StrCat("{\n  \"schema\": ", kSchemaVersion, ",\n  \"tables\": {\n");
  std::string_view between_tables;
  ForEachTable([&](const auto& table) {
    text += StrCat(between_tables, "    \"", table.kName, "\": [\n");
    between_tables = ",\n";
    std::string_view between_columns;
    ForEachColumnText(table, [&](auto name, auto type, auto doc) {
      text += StrCat(between_columns, "      {\"name\": \"", name,
                     "\", \"type\": \"", type, "\", \"doc\": \"", doc, "\"}");
      between_columns = ",\n";
    });
    text += "\n    ]";
  });
  return text + "\n  }\n}\n";
}

std::string SchemaMarkdown() {
  std::string text =
      StrCat("# Tables of a run folder, schema ", kSchemaVersion,
             "\n\nMade from `framework/testing/record/columns.cc`; "
             "attempts has the columns of results.\n");
  ForEachTable([&](const auto& table) {
    text += StrCat("\n## ", table.kName, "\n\n| column | type | meaning |\n",
                   "| --- | --- | --- |\n");
    ForEachColumnText(table, [&](auto name, auto type, auto doc) {
      text += StrCat("| ", name, " | ", type, " | ", doc, " |\n");
    });
  });
  return text;
}

}  // namespace assay::inline v1

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/tables.h"

#include <algorithm>

#include "framework/testing/record/reason.h"

namespace assay::record {
namespace {

/// Where each column of a table stands in a file.
Result<std::vector<size_t>> FindColumns(const std::vector<std::string>& header,
                                        const Table& table) {
  std::vector<size_t> order;
  for (const Column& column : table.columns) {
    const auto found = std::ranges::find(header, column.name);
    if (found == header.end()) {
      return DataLoss("the header lacks the column ", column.name);
    }
    order.push_back(static_cast<size_t>(found - header.begin()));
  }
  return order;
}

Status ParseColumn(const std::vector<std::string>& fields, size_t at,
                   const Column& column, void* row) {
  if (at >= fields.size()) {
    return DataLoss("column ", column.name, " is missing: the row has ",
                    fields.size(), " fields");
  }
  if (column.parse(fields[at], row)) return OkStatus();
  return DataLoss("column ", column.name, " cannot hold '", fields[at], "'");
}

Status ParseInOrder(const std::vector<std::string>& fields, const Table& table,
                    const std::vector<size_t>& order, void* row) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(ParseColumn(fields, order[i], table.columns[i], row));
  }
  return OkStatus();
}

}  // namespace

std::string CsvHeader(const Table& table) {
  std::string line;
  for (const Column& column : table.columns) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  return line + "\n";
}

void AppendCsvFields(std::string& out, const Table& table, const void* row,
                     size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) out += ',';
    file::AppendCsvField(out, table.columns[i].text(row));
  }
}

Status ParseFields(const std::vector<std::string>& fields, const Table& table,
                   size_t begin, void* row) {
  for (size_t i = begin; i < table.columns.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(
        ParseColumn(fields, i - begin, table.columns[i], row));
  }
  return OkStatus();
}

Status ParseCsv(std::string_view text, const Table& table,
                const std::function<void*()>& next) {
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields)) {
    ASSAY_RETURN_IF_ERROR(reader.status());
    return DataLoss("the table ", table.name, " has no header");
  }
  ASSAY_ASSIGN_OR_RETURN(const auto order, FindColumns(fields, table));
  while (reader.Next(&fields)) {
    const Status status = ParseInOrder(fields, table, order, next());
    if (!status.ok()) {
      return status.WithContext(StrCat(table.name, " line ", reader.line()));
    }
  }
  return reader.status();
}

std::string SchemaJson() {
  // Names and meanings are plain ASCII without quotes, so they need no escapes.
  std::string text =
      StrCat("{\n  \"schema\": ", kSchemaVersion, ",\n  \"tables\": {\n");
  std::string_view between_tables;
  for (const Table* table : Tables()) {
    text += StrCat(between_tables, "    \"", table->name, "\": [\n");
    between_tables = ",\n";
    std::string_view between_columns;
    for (const Column& column : table->columns) {
      text += StrCat(between_columns, "      {\"name\": \"", column.name,
                     "\", \"type\": \"", column.type, "\", \"doc\": \"",
                     column.doc, "\"}");
      between_columns = ",\n";
    }
    text += "\n    ]";
  }
  text += "\n  },\n  \"reasons\": {\n";
  std::string_view between_reasons;
  for (const ReasonMeaning& reason : ReasonMeanings()) {
    text += StrCat(between_reasons, "    \"", reason.code, "\": \"",
                   reason.meaning, "\"");
    between_reasons = ",\n";
  }
  return text + "\n  }\n}\n";
}

std::string SchemaMarkdown() {
  std::string text =
      StrCat("# Tables of a run folder, schema ", kSchemaVersion,
             "\n\nMade from `framework/testing/record/columns.cc`; "
             "attempts has the columns of results.\n");
  for (const Table* table : Tables()) {
    text += StrCat("\n## ", table->name, "\n\n| column | type | meaning |\n",
                   "| --- | --- | --- |\n");
    for (const Column& column : table->columns) {
      text += StrCat("| ", column.name, " | ", column.type, " | ", column.doc,
                     " |\n");
    }
  }
  text += "\n## reason_code\n\n| code | meaning |\n| --- | --- |\n";
  for (const ReasonMeaning& reason : ReasonMeanings()) {
    text += StrCat("| ", reason.code, " | ", reason.meaning, " |\n");
  }
  return text;
}

}  // namespace assay::record

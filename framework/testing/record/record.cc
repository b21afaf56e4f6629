// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/record.h"

#include <algorithm>
#include <utility>

#include "framework/file/csv.h"
#include "framework/testing/record/clean_text.h"
#include "framework/testing/record/tables.h"

namespace assay::record {

void Record::Add(const Table& table, const void* row) {
  RecordRow& added = rows.emplace_back();
  added.table = &table;
  added.attempt = result.attempt;
  for (size_t i = table.n_key; i < table.columns.size(); ++i) {
    if (i > table.n_key) added.fields += ',';
    file::AppendCsvField(added.fields, CleanText(table.columns[i].text(row)));
  }
}

Status Record::Fill(std::string_view column, const std::string& text) {
  for (RecordRow& row : rows) {
    const std::vector<Column>& columns = row.table->columns;
    const auto found = std::ranges::find(columns, column, &Column::name);
    if (found == columns.end()) continue;
    file::CsvReader reader(row.fields);
    std::vector<std::string> fields;
    reader.Next(&fields);
    ASSAY_RETURN_IF_ERROR(reader.status());
    const size_t at =
        static_cast<size_t>(found - columns.begin()) - row.table->n_key;
    if (at >= fields.size()) {
      return DataLoss("a row of ", row.table->name, " has ", fields.size(),
                      " fields, wanted ", columns.size() - row.table->n_key);
    }
    fields[at] = CleanText(text);
    row.fields.clear();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) row.fields += ',';
      file::AppendCsvField(row.fields, fields[i]);
    }
  }
  return OkStatus();
}

Status Record::Read(const RecordRow& from, void* row) {
  file::CsvReader reader(from.fields);
  std::vector<std::string> fields;
  reader.Next(&fields);
  ASSAY_RETURN_IF_ERROR(reader.status());
  return ParseFields(fields, *from.table, from.table->n_key, row);
}

std::string ToText(const Record& record) {
  std::string lines;
  AppendCsvRow(lines, Cleaned(record.result));
  for (const RecordRow& row : record.rows) {
    file::AppendCsvField(lines, row.table->name);
    lines += ',';
    file::AppendCsvField(lines, row.fields);
    lines += '\n';
  }
  return lines;
}

Result<Record> ParseRecord(std::string_view text) {
  Record record;
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields)) return DataLoss("an empty record");
  ASSAY_RETURN_IF_ERROR(
      ParseFields(fields, TableOf<ResultRow>(), 0, &record.result));
  while (reader.Next(&fields)) {
    const Table* table = FindTable(fields[0]);
    if (table == nullptr || fields.size() != 2) {
      return DataLoss("a row of the table '", fields[0],
                      "', which is not known");
    }
    record.rows.push_back({table, record.result.attempt, std::move(fields[1])});
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  return record;
}

Status AddRows(std::string_view csv, const Table& table, Record* record) {
  file::CsvReader reader(csv);
  std::vector<std::string> header, fields;
  reader.Next(&header);
  std::vector<size_t> places;  // of the table's columns
  for (const Column& column : table.columns) {
    const auto found = std::ranges::find(header, column.name);
    if (found == header.end()) {
      return DataLoss(table.name, " has no column ", column.name);
    }
    places.push_back(static_cast<size_t>(found - header.begin()));
  }
  while (reader.Next(&fields)) {
    if (fields.size() != header.size()) {
      return DataLoss(table.name, " line ", reader.line(), " has ",
                      fields.size(), " fields, wanted ", header.size());
    }
    ResultRow key;
    for (size_t i = 0; i < table.n_key; ++i) {
      const Column& column = TableOf<ResultRow>().columns[i];
      if (!column.parse(fields[places[i]], &key)) {
        return DataLoss(table.name, " line ", reader.line(), " has '",
                        fields[places[i]], "' in column ", column.name);
      }
    }
    if (key.test_id != record->result.test_id ||
        key.backend != record->result.backend) {
      continue;
    }
    RecordRow& row = record->rows.emplace_back();
    row.table = &table;
    row.attempt = key.attempt;
    for (size_t i = table.n_key; i < places.size(); ++i) {
      if (i > table.n_key) row.fields += ',';
      file::AppendCsvField(row.fields, fields[places[i]]);
    }
  }
  return reader.status();
}

std::string ToCsv(const Table& table, const std::vector<Record>& records) {
  std::string text = CsvHeader(table);
  const Table& results = TableOf<ResultRow>();
  for (const Record& record : records) {
    ResultRow key;
    static_cast<Key&>(key) = record.result;
    for (const RecordRow& row : record.rows) {
      if (row.table != &table) continue;
      key.attempt = row.attempt;
      AppendCsvFields(text, results, &key, 0, results.n_key);
      text += ',';
      text += row.fields;
      text += '\n';
    }
  }
  return text;
}

}  // namespace assay::record

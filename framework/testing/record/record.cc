// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/record.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "framework/file/csv.h"
#include "framework/testing/record/tables.h"

namespace assay::record {
namespace {

Result<TextList> FieldsOf(std::string_view csv) {
  file::CsvReader reader(csv);
  TextList fields;
  reader.Next(&fields);
  ASSAY_RETURN_IF_ERROR(reader.status());
  return fields;
}

}  // namespace

ResultRow ResultOf(const PlanRow& row, const RunFacts& facts) {
  ResultRow result;
  result.run_id = facts.run_id;
  result.attempt = facts.attempt;
  result.test_id = row.test_id;
  result.backend = row.backend;
  result.settings = row.settings;
  result.suite = row.suite;
  result.op = row.op;
  result.domain = row.domain;
  result.opset = row.opset;
  result.dtype = row.dtypes;
  result.shape_sig = row.shape_sig;
  result.vacuous = !row.vacuous.empty();
  result.seed = facts.seed;
  result.limit_source = row.limit_source;
  return result;
}

int64_t SteadyMicroseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Record::Add(const Table& table, const void* row) {
  TextList fields;
  for (size_t i = table.n_key; i < table.columns.size(); ++i) {
    fields.push_back(CleanText(table.columns[i].text(row)));
  }
  rows.push_back({&table, result.attempt, FieldText(fields)});
}

Status Record::Fill(std::string_view column, const std::string& text) {
  for (RecordRow& row : rows) {
    const std::vector<Column>& columns = row.table->columns;
    const auto found = std::ranges::find(columns, column, &Column::name);
    if (found == columns.end()) continue;
    ASSAY_ASSIGN_OR_RETURN(TextList fields, FieldsOf(row.fields));
    const size_t at =
        static_cast<size_t>(found - columns.begin()) - row.table->n_key;
    if (at >= fields.size()) {
      return DataLoss("a row of ", row.table->name, " has ", fields.size(),
                      " fields, wanted ", columns.size() - row.table->n_key);
    }
    fields[at] = CleanText(text);
    row.fields = FieldText(fields);
  }
  return OkStatus();
}

Status Record::Read(const RecordRow& from, void* row) {
  ASSAY_ASSIGN_OR_RETURN(const TextList fields, FieldsOf(from.fields));
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
    TextList own;
    for (size_t i = table.n_key; i < places.size(); ++i) {
      own.push_back(fields[places[i]]);
    }
    record->rows.push_back({&table, key.attempt, FieldText(own)});
  }
  return reader.status();
}

std::string ToCsv(const Table& table, const std::vector<Record>& records) {
  constexpr size_t kOfKey = 160;  // bytes, about
  const Table& results = TableOf<ResultRow>();
  std::string text = CsvHeader(table);
  size_t size = text.size();
  for (const Record& record : records) {
    for (const RecordRow& row : record.rows) {
      if (row.table == &table) size += kOfKey + row.fields.size();
    }
  }
  text.reserve(size);
  for (const Record& record : records) {
    ResultRow key;
    static_cast<Key&>(key) = record.result;
    std::string fields_of_key;  // with the attempt of `key`
    for (const RecordRow& row : record.rows) {
      if (row.table != &table) continue;
      if (fields_of_key.empty() || key.attempt != row.attempt) {
        key.attempt = row.attempt;
        fields_of_key.clear();
        AppendCsvFields(fields_of_key, results, &key, 0, results.n_key);
      }
      text.append(fields_of_key).append(",").append(row.fields) += '\n';
    }
  }
  return text;
}

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/record/record.h"

#include "framework/testing/record/clean_text.h"
#include "framework/testing/record/csv.h"
#include "framework/testing/record/tables.h"

namespace assay::inline v1 {

std::string ToText(const Record& record) {
  std::string lines;
  AppendCsvRow(lines, Cleaned(record.result));
  for (const AccuracyRow& row : record.accuracy) {
    AppendCsvRow(lines, Cleaned(row));
  }
  return lines;
}

Result<Record> ParseRecord(std::string_view text) {
  Record record;
  CsvReader reader(text);
  std::vector<std::string> fields;
  if (!reader.Next(&fields)) return DataLoss("an empty record");
  ASSAY_RETURN_IF_ERROR(
      ParseRow(fields, OwnOrder<ResultRow>(), &record.result));
  while (reader.Next(&fields)) {
    ASSAY_RETURN_IF_ERROR(ParseRow(fields, OwnOrder<AccuracyRow>(),
                                   &record.accuracy.emplace_back()));
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  return record;
}

}  // namespace assay::inline v1

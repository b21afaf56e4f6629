// SPDX-License-Identifier: Apache-2.0
//
// Record: one verdict with its measurements, the only thing that leaves a
// process (journal.h).
//
//   Record record;
//   record.result = ResultOf(row, facts);
//   const std::string text = ToText(record);

#ifndef ASSAY_TESTING_RECORD_RECORD_H_
#define ASSAY_TESTING_RECORD_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

struct Record {
  ResultRow result;
  std::vector<AccuracyRow> accuracy;
};

/// The record as the payload of a journal's frame, its texts cleaned
/// (clean_text.h), and back: data loss for what ToText did not write.
std::string ToText(const Record& record);
Result<Record> ParseRecord(std::string_view text);

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_RECORD_RECORD_H_

// SPDX-License-Identifier: Apache-2.0
//
// Record: one verdict with rows of any table, the only thing that leaves a
// process (journal.h).
//
//   Record record{ResultOf(row, facts)};
//   record.Add(accuracy);                  // a row of any table of cases
//   const std::string text = ToText(record);
//
// A row is kept as text from where it was made to the file of its table: the
// journal, a merge and a run folder know tables by name alone (columns.h).

#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/record/columns.h"
#include "framework/testing/record/rows.h"

namespace assay::record {

/// A supervisor tells its workers this of the run they are part of.
struct RunFacts {
  std::string run_id;
  int64_t seed = 0;
  int64_t attempt = 1;
  /// The steady clock at the start of the run.
  int64_t started_us = 0;
  std::map<std::string, std::string> settings;  // LoadOptions::settings
  /// The supervisor's limit for a case; 0 when there is none. Repeated draws
  /// take at most half of it.
  double case_limit_s = 120;
  /// Seconds of wall time for the times of one case, in suites that take them.
  double time_budget_s = 0.25;
  /// The suite that runs every case; empty: each its own.
  std::string suite;
  /// The backend that judges where a suite needs one, and its module; empty:
  /// the run has none.
  std::string oracle;
  std::filesystem::path oracle_module;
  /// The instance that a backend is timed beside, and its module; empty: none.
  std::string beside;
  std::filesystem::path beside_module;
  /// Where a suite that makes files writes them.
  std::filesystem::path output;
  /// A folder of the worker alone, which all ranks have; empty: there is none.
  std::filesystem::path scratch;
};

/// The columns of a result that the plan already knows: the one place that
/// makes a result of a planned row. Its outcome is missing until somebody gives
/// one.
ResultRow ResultOf(const PlanRow& row, const RunFacts& facts);

/// Microseconds of the steady clock.
int64_t SteadyMicroseconds();

/// A row of a table of cases without its key, which is that of its record's
/// result but for the attempt.
struct RecordRow {
  const Table* table = nullptr;
  int64_t attempt = 1;  // that the row is of: repeats of a case have none
  std::string fields;   // CSV, from behind the key
};

struct Record {
  ResultRow result;
  std::vector<RecordRow> rows = {};

  /// Texts are cleaned (CleanText), and the key of `row` is left aside.
  template <std::derived_from<Key> Row>
  void Add(const Row& row) {
    Add(TableOf<Row>(), &row);
  }

  /// The rows of one table. Data loss where the text of one does not fit.
  template <std::derived_from<Key> Row>
  Result<std::vector<Row>> Rows() const {
    std::vector<Row> found;
    for (const RecordRow& row : rows) {
      if (row.table != &TableOf<Row>()) continue;
      static_cast<Key&>(found.emplace_back()) = result;
      found.back().attempt = row.attempt;
      ASSAY_RETURN_IF_ERROR(Read(row, &found.back()));
    }
    return found;
  }

  /// Puts one text into that column of each row whose table has it. Data loss
  /// where the text of a row does not fit.
  Status Fill(std::string_view column, const std::string& text);

 private:
  void Add(const Table& table, const void* row);
  static Status Read(const RecordRow& from, void* row);
};

/// The record as the payload of a journal's frame, its texts cleaned
/// (CleanText), and back: data loss for what ToText did not write, or a
/// table that is not known.
std::string ToText(const Record& record);
Result<Record> ParseRecord(std::string_view text);

/// Adds those rows of the file of a table that are of the record's case and
/// backend. Data loss, with the line or the column, for a file that is broken.
Status AddRows(std::string_view csv, const Table& table, Record* record);

/// The file of a table of cases: the rows of all records, in their order.
std::string ToCsv(const Table& table, const std::vector<Record>& records);

}  // namespace assay::record

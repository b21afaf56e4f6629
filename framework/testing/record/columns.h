// SPDX-License-Identifier: Apache-2.0
//
// A table: its name, and of each column the name in files, the type, the
// meaning, and how a row holds it. All code over tables is a loop over these.
// A new table is a struct (rows.h), and a function that lists its columns:
//
//     template <>
//     const Table& TableOf<EnvRow>() {
//       using Row = EnvRow;
//       static const Table table = {"env", {ASSAY_COLUMN(key, "cpu, kernel"),
//                                           ASSAY_COLUMN(value, "as found")}};
//       return table;
//     }
//
// The tables of a run folder are listed in columns.cc; a suite may add its own.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/metric/exact_difference.h"
#include "framework/testing/record/field.h"
#include "framework/testing/record/rows.h"

namespace assay::record {

/// One column. A row is handed over by its address, and must be of the type
/// that the column was made for.
struct Column {
  std::string_view name;
  std::string_view type;  // kFieldType
  std::string_view doc;
  std::string (*text)(const void* row);
  bool (*parse)(const std::string& text, void* row);  // whether it fits
};

struct Table {
  std::string_view name;
  std::vector<Column> columns;  // in the order of its file
  /// How many of them, from the first, are the key of a case (Key); 0 for a
  /// table that is not about cases.
  size_t n_key = 0;
};

/// The table of a row.
template <class Row>
const Table& TableOf();
template <>
const Table& TableOf<RunRow>();
template <>
const Table& TableOf<PlanRow>();
template <>
const Table& TableOf<EnvRow>();
template <>
const Table& TableOf<BackendRow>();
template <>
const Table& TableOf<ResultRow>();
template <>
const Table& TableOf<AccuracyRow>();
template <>
const Table& TableOf<MutantRow>();

/// A column that is a member of Row, or a member of that, and so on.
template <class Row, auto... kMembers>
Column ColumnOf(std::string_view name, std::string_view doc) {
  using Field =
      std::remove_cvref_t<decltype((std::declval<Row&>().*....*kMembers))>;
  return {name, kFieldType<Field>, doc,
          [](const void* row) {
            return FieldText((*static_cast<const Row*>(row).*....*kMembers));
          },
          [](const std::string& text, void* row) {
            return ParseField(text, &(*static_cast<Row*>(row).*....*kMembers));
          }};
}

// Column X of `Row`: the member's name is the column's.
#define ASSAY_COLUMN(name, doc) ColumnOf<Row, &Row::name>(#name, doc)

/// The table of a Row that begins with a Key: its columns, then the rest.
template <class Row>
Table CaseTable(std::string_view name, std::initializer_list<Column> rest) {
  Table table{
      name,
      {ASSAY_COLUMN(schema, "version of these tables"),
       ASSAY_COLUMN(run_id, "UTC time and a random part"),
       ASSAY_COLUMN(attempt, "from 1; in results, how many were needed"),
       ASSAY_COLUMN(test_id, "suite/op/case[#variant]"),
       ASSAY_COLUMN(backend, "instance: name[@version][+setting...]"),
       ASSAY_COLUMN(settings, "device:precision:optimisation:threads")}};
  table.n_key = table.columns.size();
  table.columns.insert(table.columns.end(), rest);
  return table;
}

/// All tables, in the order of the schema: those of a run folder, then those
/// that were added.
const std::vector<const Table*>& Tables();

/// Adds a table that lives as long as the process. Always true, so that a
/// static initialiser can call it.
bool AddTable(const Table& table);

/// Null when there is none of that name.
const Table* FindTable(std::string_view name);

/// The numbers of a comparison, from the metric to the table accuracy. A new
/// one has a member in AccuracyNumbers (rows.h) and a line in columns.cc;
/// nothing between knows them one by one.
void TakeNumbers(const metric::ExactDifference& difference,
                 AccuracyNumbers* numbers);

/// True where the greatest distance in ULP of an output that is out of limit
/// says something. Zero is that of the others where the worst element is NaN or
/// infinite, and units across zero, of two signs, are no measure.
bool TellsUlp(const Number& max_ulp, std::string_view worst_got,
              std::string_view worst_want);

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0
//
// The columns of the run folder's tables: name, member and meaning. A member is
// one of five types, so that code over all columns is a loop.
//
//   for (const auto& column : TableOf<ResultRow>::Columns()) Show(column.name);
//   ForEachField(row, [](const auto& column, auto& field) { ... });

#ifndef ASSAY_TESTING_RECORD_COLUMNS_H_
#define ASSAY_TESTING_RECORD_COLUMNS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "framework/testing/record/rows.h"

namespace assay::inline v1 {

/// One column: its name in files, where a row holds it, what it means.
template <class Row>
struct Column {
  std::string_view name;
  std::variant<std::string Row::*, bool Row::*, int64_t Row::*, Integer Row::*,
               Number Row::*>
      member;
  std::string_view doc;
};

/// Name and columns of a Row's table, in the order of its file.
template <class Row_>
struct TableOf {
  using Row = Row_;
  static const std::string_view kName;
  static std::span<const Column<Row>> Columns();
};

// All tables, in the order of the schema.
#define ASSAY_TABLES_(each)                                                \
  each(RunRow) each(PlanRow) each(EnvRow) each(BackendRow) each(ResultRow) \
      each(AccuracyRow) each(MutantRow)

#define ASSAY_TABLE_(Row)                     \
  template <>                                 \
  const std::string_view TableOf<Row>::kName; \
  template <>                                 \
  std::span<const Column<Row>> TableOf<Row>::Columns();
ASSAY_TABLES_(ASSAY_TABLE_)
#undef ASSAY_TABLE_

/// Calls visit(column, field) for every field of a row, in order.
template <class Row, class Visit>
void ForEachField(Row& row, const Visit& visit) {
  for (const auto& column : TableOf<std::remove_const_t<Row>>::Columns()) {
    std::visit([&](auto member) { visit(column, row.*member); }, column.member);
  }
}

}  // namespace assay::inline v1

#endif  // ASSAY_TESTING_RECORD_COLUMNS_H_

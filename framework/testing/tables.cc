// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/tables.h"

#include <algorithm>

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
  visit(TableOf<RunRow>());
  visit(TableOf<PlanRow>());
  visit(TableOf<EnvRow>());
  visit(TableOf<BackendRow>());
  visit(TableOf<ResultRow>());
  visit(TableOf<AccuracyRow>());
  visit(TableOf<MutantRow>());
}

template <class Table, class Visit>
void ForEachColumnText(const Table&, Visit&& visit) {
  ForEachColumn<typename Table::Row>([&](const auto& column) {
    typename Table::Row row;
    using Field = std::remove_cvref_t<decltype(row.*column.member)>;
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
  std::string text = StrCat("# Tables of a run folder, schema ", kSchemaVersion,
                            "\n\nMade from `framework/testing/rows.h`; "
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

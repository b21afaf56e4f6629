// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/request/request.h"

#include <algorithm>
#include <set>

#include "framework/core/text.h"
#include "framework/file/csv.h"
#include "framework/file/nearest.h"

namespace assay::request {
namespace {

constexpr std::string_view kRequest = "request";

using record::Column;

Result<const Column*> FindField(const Form& form, const std::string& name) {
  const auto found = std::ranges::find(form.table.columns, name, &Column::name);
  if (found != form.table.columns.end()) return &*found;
  std::vector<std::string> known;
  for (const Column& column : form.table.columns) {
    known.emplace_back(column.name);
  }
  return InvalidArgument("found the field '", name, "', wanted one of ",
                         Joined(known), file::DidYouMean(name, known));
}

Status TakeField(const std::vector<std::string>& fields, const Form& form,
                 std::set<std::string>* taken, void* request) {
  if (fields.size() != 2) {
    return InvalidArgument("found ", fields.size(),
                           " columns, wanted a field and its value");
  }
  const std::string& name = fields[0];
  const std::string& value = fields[1];
  ASSAY_ASSIGN_OR_RETURN(const Column* const column, FindField(form, name));
  if (!taken->insert(name).second) {
    return InvalidArgument("found the field ", name, " twice, wanted it once");
  }
  if (column->parse(value, request)) return OkStatus();
  return InvalidArgument("found '", value, "' as ", name, ", wanted ",
                         column->type, ": ", column->doc);
}

}  // namespace

std::string TextOf(const Form& form, const void* request) {
  std::string text = StrCat(kRequest, ",", form.table.name, "\n");
  for (const Column& column : form.table.columns) {
    text += StrCat(column.name, ",");
    file::AppendCsvField(text, column.text(request));
    text += '\n';
  }
  return text;
}

std::string KindOf(std::string_view text) {
  std::string_view first = CutFront(&text);
  return CutFront(&first, ",") == kRequest ? std::string(first) : std::string();
}

Status Parse(std::string_view text, const Form& form, void* request) {
  if (KindOf(text) != form.table.name) {
    return InvalidArgument("line 1: found '", CutFront(&text), "', wanted '",
                           kRequest, ",", form.table.name, "'");
  }
  file::CsvReader reader(text);
  std::vector<std::string> fields;
  reader.Next(&fields);
  std::set<std::string> taken;
  while (reader.Next(&fields)) {
    const Status status = TakeField(fields, form, &taken, request);
    if (!status.ok()) return status.WithContext(StrCat("line ", reader.line()));
  }
  ASSAY_RETURN_IF_ERROR(reader.status());
  for (const std::string_view name : form.needed) {
    const auto& column =
        *std::ranges::find(form.table.columns, name, &Column::name);
    if (!column.text(request).empty()) continue;
    return InvalidArgument("found no ", name, ", wanted ", column.type, ": ",
                           column.doc);
  }
  return OkStatus();
}

std::string FieldsOf(const Form& form) {
  constexpr size_t kWidth = 20;
  std::string lines = StrCat("  ", kRequest, ",", form.table.name, "\n");
  for (const Column& column : form.table.columns) {
    std::string name(column.name);
    name.resize(std::max(kWidth, name.size() + 1), ' ');
    lines += StrCat("  ", name, column.type, ": ", column.doc, "\n");
  }
  return lines;
}

}  // namespace assay::request

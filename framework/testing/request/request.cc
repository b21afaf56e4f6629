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

const Form& HostRequest::form() {
  using Row = HostRequest;
  using record::ColumnOf;
  static const Form form = {
      {"host",
       {ASSAY_COLUMN(module, "file to load"),
        ASSAY_COLUMN(name, "of the backend"),
        ASSAY_COLUMN(version, "that it must be of; any if empty"),
        ASSAY_COLUMN(parent, "process to die with; none if 0"),
        ASSAY_COLUMN(forks, "1: it may fork to serve"),
        ColumnOf<Row, &Row::walls, &walls::Walls::hidden>(
            "hide", "folders that the module must not see"),
        ColumnOf<Row, &Row::walls, &walls::Walls::kept>(
            "keep", "folders that the module must not change")}},
      {"module", "name"}};
  return form;
}

// A field that is one of the facts. Settings follow from the instance.
#define ASSAY_FACT(name, doc) \
  ColumnOf<Row, &Row::facts, &record::RunFacts::name>(#name, doc)

const Form& WorkerRequest::form() {
  using Row = WorkerRequest;
  using record::ColumnOf;
  static const Form form = {
      {"worker",
       {ASSAY_COLUMN(backend, "instance to test"),
        ASSAY_COLUMN(module, "its file; the one of its name if empty"),
        ASSAY_COLUMN(carrier,
                     "file of the library whose ranks run its networks"),
        ASSAY_COLUMN(batch, "file of cases: plan.csv, or a part of one"),
        ASSAY_COLUMN(journal, "file for the records; none if empty"),
        ASSAY_FACT(run_id, "of the records"),
        ASSAY_FACT(seed, "of everything random"),
        ASSAY_FACT(attempt, "of the records"),
        ASSAY_FACT(started_us, "steady clock at the start of the run"),
        ASSAY_FACT(case_limit_s, "seconds that the supervisor gives one case"),
        ASSAY_FACT(time_budget_s, "seconds for the times of one case"),
        ASSAY_FACT(suite, "that runs all cases; each case's own if empty"),
        ASSAY_FACT(oracle, "backend that judges where a suite needs one"),
        ASSAY_FACT(oracle_module, "its file"),
        ASSAY_FACT(beside, "instance that it is timed beside"),
        ASSAY_FACT(beside_module, "its file"),
        ASSAY_FACT(output, "folder for files that a suite makes"),
        ASSAY_FACT(scratch, "folder that all ranks have"),
        ASSAY_COLUMN(parent, "process to die with; none if 0"),
        ASSAY_COLUMN(rank_variable,
                     "variable that tells which of the launched ranks it is"),
        ASSAY_COLUMN(cases_per_process, "after which another process goes on"),
        ASSAY_COLUMN(in_process,
                     "1: the backend is loaded into this process, as without a "
                     "journal"),
        ColumnOf<Row, &Row::walls, &walls::Walls::hidden>(
            "hide", "folders that the backend must not see"),
        ColumnOf<Row, &Row::walls, &walls::Walls::kept>(
            "keep", "folders that the backend must not change")}},
      {"backend", "batch"}};
  return form;
}

}  // namespace assay::request

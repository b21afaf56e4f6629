// SPDX-License-Identifier: Apache-2.0

#include <iostream>

#include "framework/cli/commands.h"
#include "framework/testing/file.h"
#include "framework/testing/tables.h"

namespace assay::inline v1 {
namespace {

template <class Row>
Result<std::vector<Row>> RowsOfCase(const ExplainOptions& options,
                                    const char* file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string csv, ReadFile(options.run / file));
  ASSAY_ASSIGN_OR_RETURN(std::vector<Row> rows, ParseCsv<Row>(csv));
  std::erase_if(rows, [&](const Row& row) {
    return row.test_id != options.test_id ||
           (!options.backend.empty() && row.backend != options.backend);
  });
  return rows;
}

void Line(std::string_view name, const std::string& value) {
  if (value.empty()) return;
  std::cout << "  " << name
            << std::string(12 - std::min<size_t>(11, name.size()), ' ') << value
            << "\n";
}

void PrintPolicy(const PlanRow& row) {
  Line("limit", StrCat("atol ", ToText(row.atol.value_or(0)), ", rtol ",
                       ToText(row.rtol.value_or(0)), " (", row.comparator, ", ",
                       row.limit_source, ")"));
  if (row.tolerate_rtol.has_value()) {
    Line("tolerated",
         StrCat("atol ", ToText(row.tolerate_atol.value_or(0)), ", rtol ",
                ToText(*row.tolerate_rtol), " by ", row.tolerate_source));
  }
  if (!row.expected.empty()) {
    Line("expected",
         StrCat(row.expected, " by ", row.expected_source, ": ", row.because));
  }
  Line("claimed", row.claimed ? "yes" : "no");
  Line("vacuous", row.vacuous);
  Line("files", row.directory);
}

void PrintOutput(const AccuracyRow& row) {
  std::string text = StrCat(row.dtype, row.shape);
  if (row.out_of_limit.has_value()) {
    text += StrCat(", ", *row.out_of_limit, " of ", row.n_elem.value_or(0),
                   " elements out of limit");
  }
  if (row.worst_index.has_value()) {
    text += StrCat("; worst [", *row.worst_index, "]: got ", row.worst_got,
                   ", want ", row.worst_want);
  }
  if (row.max_ulp.has_value()) {
    text += StrCat("; max ", ToText(*row.max_ulp), " ULP");
  }
  if (row.headroom.has_value()) {
    text += StrCat("; headroom ", ToText(*row.headroom));
  }
  Line(StrCat("output ", row.output_index), StrCat(row.output_name, " ", text));
}

Status Explain(const ExplainOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         RowsOfCase<ResultRow>(options, "results.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto planned,
                         RowsOfCase<PlanRow>(options, "plan.csv"));
  ASSAY_ASSIGN_OR_RETURN(const auto accuracy,
                         RowsOfCase<AccuracyRow>(options, "accuracy.csv"));
  if (results.empty()) {
    return InvalidArgument(
        "the run ", options.run.string(), " has no case ", options.test_id,
        options.backend.empty() ? std::string()
                                : StrCat(" on ", options.backend));
  }
  for (const ResultRow& row : results) {
    std::cout << row.test_id << " on " << row.backend << ": " << row.outcome
              << "\n";
    Line("reason", row.reason_code);
    Line("message", row.message);
    for (const PlanRow& plan : planned) {
      if (plan.backend == row.backend) PrintPolicy(plan);
    }
    for (const AccuracyRow& output : accuracy) {
      if (output.backend == row.backend) PrintOutput(output);
    }
    Line("placement", row.placement);
    Line("repro", row.repro);
  }
  return OkStatus();
}

}  // namespace

int ExplainCommand(const ExplainOptions& options) {
  const Status status = Explain(options);
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace assay::inline v1

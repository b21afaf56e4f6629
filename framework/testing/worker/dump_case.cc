// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/dump_case.h"

#include "framework/graph/value_bytes.h"
#include "framework/testing/file/file.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/suite/suite.h"

namespace assay::inline v1 {
namespace {

namespace fs = std::filesystem;

Status WriteOutputs(const Observation& seen, const fs::path& directory) {
  ASSAY_RETURN_IF_ERROR(MakeDirectory(directory));
  for (size_t i = 0; i < seen.outputs.size(); ++i) {
    const std::string name =
        i < seen.output_names.size() ? seen.output_names[i] : std::string();
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                           SerializeValue(seen.outputs[i], name));
    ASSAY_RETURN_IF_ERROR(
        WriteFile(directory / StrCat("output_", i, ".pb"), bytes));
  }
  return OkStatus();
}

/// The judgement of a run that stopped, or pass.
Judgement Dump(Backend& backend, const CaseData& data, const RunFacts& facts,
               const fs::path& directory) {
  LoadOptions options;
  options.settings = facts.settings;
  for (size_t i = 0; i < data.sets.size(); ++i) {
    const Observation seen =
        Run(backend, data.model, data.sets[i].inputs, options);
    if (!seen.status.ok()) return Judge(seen, {});
    const Status written =
        WriteOutputs(seen, directory / StrCat("test_data_set_", i));
    if (!written.ok()) {
      return {Outcome::kError, written.reason(), written.message()};
    }
  }
  return {Outcome::kPass, Reason::kNone, {}};
}

}  // namespace

Result<CaseData> CaseInputs(const PlanRow& row) {
  const Suite* suite = row.directory.empty() ? FindSuite(row.suite) : nullptr;
  if (suite == nullptr) {
    return ReadCaseInputs(row.directory, static_cast<int>(row.n_data_sets));
  }
  if (suite->data != nullptr) return suite->data(row.test_id);
  return Unsupported(Reason::kReader, row.test_id,
                     " is a program of the suite ", row.suite,
                     ", which has no files");
}

Record DumpCase(Backend& backend, const PlanRow& row, const RunFacts& facts,
                const fs::path& directory) {
  Record record;
  record.result = ResultOf(row, facts);
  const Result<CaseData> data = CaseInputs(row);
  const Judgement verdict =
      data.ok() ? Dump(backend, *data, facts, directory / row.test_id)
                : Judgement{Outcome::kError, Reason::kReader,
                            data.status().message()};
  record.result.outcome = verdict.outcome;
  record.result.reason_code = ToString(verdict.reason);
  record.result.message = verdict.message;
  return record;
}

}  // namespace assay::inline v1

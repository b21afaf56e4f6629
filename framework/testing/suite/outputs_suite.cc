// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/outputs_suite.h"

#include <filesystem>

#include "framework/graph/value_bytes.h"
#include "framework/testing/file/file.h"

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

Judgement RunCase(const PlanRow& row, Backend& backend, const RunFacts& facts,
                  Record*) {
  const Result<CaseData> data = InputsOf(row);
  if (!data.ok()) {
    return {Outcome::kError, Reason::kReader, data.status().message()};
  }
  const fs::path directory = facts.output / row.test_id;
  for (size_t i = 0; i < data->sets.size(); ++i) {
    const Observation seen =
        Run(backend, data->model, data->sets[i].inputs, {});
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

Suite OutputsSuite() { return {.name = kOutputsSuite, .run = &RunCase}; }

}  // namespace assay::inline v1

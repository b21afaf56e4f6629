// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/outputs_suite.h"

#include <filesystem>

#include "framework/file/file.h"
#include "framework/graph/value_bytes.h"

namespace assay::suite {
namespace {

namespace fs = std::filesystem;

Status WriteOutputs(const measure::Observation& seen,
                    const fs::path& directory) {
  ASSAY_RETURN_IF_ERROR(file::MakeDirectory(directory));
  for (size_t i = 0; i < seen.outputs.size(); ++i) {
    const std::string name =
        i < seen.output_names.size() ? seen.output_names[i] : std::string();
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes,
                           graph::SerializeValue(seen.outputs[i], name));
    ASSAY_RETURN_IF_ERROR(
        file::WriteFile(directory / StrCat("output_", i, ".pb"), bytes));
  }
  return OkStatus();
}

measure::Judgement RunOutputs(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts, record::Record*) {
  const Suite* const suite = SuiteOf(row);
  if (suite != nullptr && suite->evidence.write != nullptr) {
    const Status written =
        suite->evidence.write(row, backend, facts, facts.output / row.test_id);
    return {OutcomeOf(written), written.reason(), written.message()};
  }
  const Result<Subject> subject = SubjectOf(row, facts);
  if (!subject.ok()) {
    return {record::Outcome::kError, Reason::kReader,
            subject.status().message()};
  }
  const fs::path directory = facts.output / row.test_id;
  for (size_t i = 0; i < subject->inputs.size(); ++i) {
    const measure::Observation seen =
        measure::Run(backend, subject->model, subject->inputs[i], {});
    if (!seen.status.ok()) return measure::Judge(seen, {});
    const Status written =
        WriteOutputs(seen, directory / StrCat("test_data_set_", i));
    if (!written.ok()) {
      return {record::Outcome::kError, written.reason(), written.message()};
    }
  }
  return {record::Outcome::kPass, Reason::kNone, {}};
}

}  // namespace

Suite OutputsSuite() { return {.name = kOutputsSuite, .run = &RunOutputs}; }

}  // namespace assay::suite

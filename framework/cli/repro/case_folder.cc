// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/case_folder.h"

#include <system_error>
#include <utility>

#include "framework/cli/repro/capsule.h"
#include "framework/testing/case/corpus_files.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {

CaseFolder::~CaseFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

Status CaseFolder::Add(record::PlanRow row, const Draft& draft) {
  row.directory = (root_ / row.test_id).string();
  rows_.push_back(std::move(row));
  const std::filesystem::path folder = rows_.back().directory;
  if (suite::SuiteOf(rows_.back()) != nullptr) {
    return WriteSubject(folder, {draft.model, {draft.inputs}, draft.targets});
  }
  return cases::WriteCaseFiles(folder,
                               {draft.model, {{draft.inputs, draft.expected}}});
}

}  // namespace assay::repro

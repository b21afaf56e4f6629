// SPDX-License-Identifier: Apache-2.0
//
// CaseFolder: drafts on disk as cases, until they have been tried.

#pragma once

#include <filesystem>
#include <vector>

#include "framework/cli/repro/shrink_draft.h"
#include "framework/core/status.h"
#include "framework/supervise/trial.h"
#include "framework/testing/record/rows.h"

namespace assay::repro {

class CaseFolder {
 public:
  explicit CaseFolder(supervise::WorkFolder& work) : root_(work.Next()) {}
  ~CaseFolder();
  CaseFolder(const CaseFolder&) = delete;
  CaseFolder& operator=(const CaseFolder&) = delete;

  /// Writes a draft, as the subject of its suite where that judges cases that
  /// it makes, and keeps the row, in this folder under its test_id.
  Status Add(record::PlanRow row, const Draft& draft);

  const std::filesystem::path& root() const { return root_; }
  const std::vector<record::PlanRow>& rows() const { return rows_; }

 private:
  const std::filesystem::path root_;
  std::vector<record::PlanRow> rows_;
};

}  // namespace assay::repro

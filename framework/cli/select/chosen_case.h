// SPDX-License-Identifier: Apache-2.0
//
// One case on one backend, as a command names it: found in the corpora, or in
// those of a run, and planned as a run would.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/cli/select/own_model.h"
#include "framework/core/status.h"
#include "framework/file/digest.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/tables.h"

namespace assay::select {

/// How a command names a case. With a run, the backend may be left out where
/// the run has one, and corpora and seed are the run's.
struct CaseOptions {
  std::string test_id;
  OwnModel model;              // in place of id and corpora
  std::filesystem::path made;  // where its corpus is made
  std::string backend;
  std::filesystem::path run;  // empty: none
  std::vector<std::string> corpora;
  int64_t seed = 0;
  double timeout_s = 120;
};

struct ChosenCase {
  cases::TestCase test_case;
  record::PlanRow row;
  plan::BackendUse backend;
  std::string corpus_hash;       // of its corpus
  std::string corpus_directory;  // or the name of a suite of code
  int64_t seed = 0;
  double timeout_s = 120;
  /// The digests of the programs and libraries that were asked for, for the
  /// worker that runs the case.
  std::shared_ptr<const file::FileDigests> digests =
      std::make_shared<const file::FileDigests>();
  /// Where a run was named: its id, and the verdict that it gave.
  std::string run_id;
  std::optional<record::ResultRow> in_run;
};

/// Invalid argument, with the nearest ids, for a case that is not there.
Result<ChosenCase> Choose(const CaseOptions& options);

/// The files of a case, or what its suite gives. Invalid argument for a case
/// that is a program and has neither.
Result<cases::CaseData> DataOf(const cases::TestCase& test_case);

/// The text of RUN/FILE. Invalid argument when the folder is no run.
Result<std::string> ReadRunFile(const std::filesystem::path& run,
                                const char* file);

/// The rows of RUN/FILE.
template <class Row>
Result<std::vector<Row>> ReadTable(const std::filesystem::path& run,
                                   const char* file) {
  ASSAY_ASSIGN_OR_RETURN(const std::string csv, ReadRunFile(run, file));
  Result<std::vector<Row>> rows = record::ParseCsv<Row>(csv);
  if (rows.ok()) return rows;
  return rows.status().WithContext((run / file).string());
}

}  // namespace assay::select

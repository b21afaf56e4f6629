// SPDX-License-Identifier: Apache-2.0
//
// Trials: cases run on one backend in workers, outside any run folder, for the
// commands that look at single cases. A backend's effects on its worker stay
// there.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/identity/module_file.h"
#include "framework/core/status.h"
#include "framework/file/digest.h"
#include "framework/file/file.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/unjudged_suites.h"

namespace assay::supervise {

/// A temporary folder, gone at the end.
class WorkFolder {
 public:
  /// Also removes those that killed processes left. Resource exhausted, with
  /// the reason, when there can be none.
  static Result<WorkFolder> Make();
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::move(other.lock_)) {
    other.path_.clear();
  }
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }
  /// A folder below that was not handed out before.
  std::filesystem::path Next() { return path_ / std::to_string(++count_); }

 private:
  WorkFolder(std::filesystem::path path, file::FolderLock lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  file::FolderLock lock_;  // says that it is in use
  int count_ = 0;
};

struct TrialOptions {
  int64_t seed = 0;
  double timeout_s = 120;  // of one case
  /// Trials that share them read a library once.
  std::shared_ptr<const file::FileDigests> digests =
      std::make_shared<const file::FileDigests>();
};

class Trial {
 public:
  Trial(plan::BackendUse backend, TrialOptions options)
      : backend_(std::move(backend)), options_(std::move(options)) {}

  /// The raw results of these cases, in their order; missing ones have the
  /// outcome missing. Their backend is this one, whatever they say. Journals
  /// and logs go to `directory`.
  Result<std::vector<record::ResultRow>> Judge(
      const std::vector<record::PlanRow>& rows,
      const std::filesystem::path& directory) const {
    return Run(rows, directory, {}, {});
  }

  /// Writes the outputs to DUMP/<test_id>/test_data_set_N/output_K.pb and
  /// compares nothing: outcome pass says that they are there. For a suite with
  /// evidence of its own, that below DUMP/<test_id>.
  Result<std::vector<record::ResultRow>> Dump(
      const std::vector<record::PlanRow>& rows,
      const std::filesystem::path& directory,
      const std::filesystem::path& dump) const {
    return Run(rows, directory, suite::kOutputsSuite, dump);
  }

  /// Writes the exact answers to these cases, each into the folder that its row
  /// names as `oracle`. Outcome pass says that they are there.
  Result<std::vector<record::ResultRow>> Answer(
      const std::vector<record::PlanRow>& rows,
      const std::filesystem::path& directory) const {
    return Run(rows, directory, suite::kAnswersSuite, {});
  }

  const plan::BackendUse& backend() const { return backend_; }

 private:
  Result<std::vector<record::ResultRow>> Run(
      std::vector<record::PlanRow> rows, const std::filesystem::path& directory,
      const std::string& suite, const std::filesystem::path& output) const;

  plan::BackendUse backend_;
  TrialOptions options_;
};

struct Inspection {
  identity::ModuleNote note;
  record::BackendRow backend;  // version and device, or why it is unavailable
  /// Message: the interfaces that a network of it offers (unjudged_suites.h).
  record::ResultRow interfaces;
  std::vector<std::string> libraries;  // files that the worker executed from
};

/// Journals and logs go to `directory`, which is made.
Result<Inspection> Inspect(const plan::BackendUse& backend,
                           const std::filesystem::path& directory,
                           double timeout_s = 20);

/// Where lines of its policy hang on instruction sets: asks the backend which
/// it may take code of here, as it is set, and reads the policy again. Where it
/// cannot be used none is known, and no such line is in force.
Status ReadPolicyHere(plan::PlannedBackend* backend);

}  // namespace assay::supervise

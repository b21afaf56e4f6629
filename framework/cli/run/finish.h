// SPDX-License-Identifier: Apache-2.0
//
// The end of a run, whether its records come from one process or from the parts
// of many: assess, write the folder, print, report. The commands that make
// pages of finished runs are here as well.

#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/file/digest.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::run {

struct FinishOptions {
  std::filesystem::path folder;
  bool allow_unavailable = false;
  bool report = true;
  /// RunJson on standard output; what a person reads goes to standard error.
  bool json = false;
  verdict::MutantKills mutants;
  /// Absent where the parts of many entries were merged.
  std::optional<double> duration_s;
};

/// The mutants that the table of this installation has, as far as the cases of
/// the plan see them. `digests` are the run's.
verdict::MutantKills MutantsFor(const plan::Plan& plan,
                                const file::FileDigests& digests = {});

/// Returns the exit code, or why the folder could not be written.
Result<int> FinishRun(const plan::Plan& plan, verdict::RawRecords raw,
                      record::RunRow run,
                      const std::vector<record::EnvRow>& env,
                      FinishOptions options);

/// Runs a verb of the reporting package, its words behind it. Not found when
/// there is no Python with its requirements.
Status Report(std::vector<std::string> words);

/// A file for reports of the installation, or of the build.
std::filesystem::path SharedPath(const char* name);

/// Where a person reads: standard error where a program reads the output.
std::ostream& OutputFor(bool json);

}  // namespace assay::run

// SPDX-License-Identifier: Apache-2.0
//
// The run folder: tables, JUnit, summaries. Written beside and renamed at the
// end, so that a folder is there whole or not at all, and runs/latest names
// the newest whole one.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/core/status.h"
#include "framework/testing/plan/plan.h"
#include "framework/testing/record/record.h"
#include "framework/testing/verdict/verdict.h"

namespace assay::run {

/// Fills the counts of `run` from the verdicts.
void CountOutcomes(const verdict::Verdicts& verdicts, record::RunRow* run);

/// Writes the tables, the files of junit/ (junit.h), summary.json, summary.md.
/// Resource exhausted, with the file, when something cannot be written.
Status WriteRunFolder(const std::filesystem::path& folder,
                      const record::RunRow& run,
                      const std::vector<record::EnvRow>& env,
                      const plan::Plan& plan, const verdict::Verdicts& verdicts,
                      int exit_code);

/// summary.json: what the report's page and other programs read first.
std::string SummaryJson(const record::RunRow& run, const plan::Plan& plan,
                        const verdict::Verdicts& verdicts, int exit_code);
/// The same with the folder and its files, for the program that ran this one.
std::string RunJson(const record::RunRow& run, const plan::Plan& plan,
                    const verdict::Verdicts& verdicts, int exit_code,
                    const std::filesystem::path& folder);
/// Less than 100 kB, whatever a run found.
std::string SummaryMarkdown(const record::RunRow& run, const plan::Plan& plan,
                            const verdict::Verdicts& verdicts);

/// Points `latest` beside the folder to it.
Status PointLatest(const std::filesystem::path& folder);

}  // namespace assay::run

// SPDX-License-Identifier: Apache-2.0
//
// A capsule: a folder with one case and a backend's outputs for it. It runs
// alone, here or on another machine that has the backend.
//
// It holds a corpus of one case: manifest.json, which keeps id, tolerance and
// comparator, model.onnx and test_data_set_N/{input,output}_K.pb; and about it
// got/test_data_set_N/output_K.pb, case.json, env.csv and README.txt. A case
// that is made from another one is written as it is, with targets.txt beside
// its model, and with the evidence of its suite (suite.h) in the place of
// `got`. One that its name makes has case.json, env.csv and README.txt alone.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/cli/select/chosen_case.h"
#include "framework/core/status.h"
#include "framework/supervise/trial.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {

struct CapsuleContent {
  select::ChosenCase chosen;
  /// Where the case has no folder that can be copied.
  std::shared_ptr<const cases::CaseData> data;
  /// For a case that its suite makes from another one.
  std::shared_ptr<const suite::Subject> subject;
  /// For a case that its name makes (suite::Sizing), which has no files: the
  /// command that runs it.
  std::string command = {};
  /// Lines for the README and members of case.json: how it came to be.
  std::vector<std::pair<std::string, std::string>> history = {};
  /// Whose exact answers it is judged by, where its suite needs any.
  std::string oracle = "reference";
};

/// model.onnx, test_data_set_0 and targets.txt, as suite::SubjectInFiles reads
/// them.
Status WriteSubject(const std::filesystem::path& directory,
                    const suite::Subject& subject);

/// Has an oracle give the exact answers that the suite of a case judges by, and
/// fills the row's `oracle`. Returns why there are none where it declines;
/// empty: they are there.
Result<std::string> AskOracle(const supervise::Trial& oracle,
                              supervise::WorkFolder& work,
                              record::PlanRow* row);

/// The content of a case as it is. Invalid argument for one that is a program.
Result<CapsuleContent> ContentOf(select::ChosenCase chosen);

/// Runs the case alone, twice (once to be judged, once for its outputs), and
/// writes the folder, whole or not at all. Returns the final verdict of that
/// run. Invalid argument when `out` holds something already.
Result<record::ResultRow> WriteCapsule(const CapsuleContent& content,
                                       const std::filesystem::path& out);

/// RUN/capsules/ID.BACKEND of the first `count` cases of a run that are
/// unexpected. Returns a line for each, that it is written or why it is not.
Result<std::vector<std::string>> WriteCapsules(const std::filesystem::path& run,
                                               int count);

}  // namespace assay::repro

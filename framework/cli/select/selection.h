// SPDX-License-Identifier: Apache-2.0
//
// A run's selection as it is typed, made a plan: names of backends and corpora,
// a query, a tier.

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cli/select/own_model.h"
#include "framework/core/status.h"
#include "framework/file/digest.h"
#include "framework/testing/case/test_case.h"
#include "framework/testing/plan/plan.h"

namespace assay::select {

/// The options that run and plan share.
struct SelectionOptions {
  std::vector<std::string> backends;           // names, instances or files
  std::vector<std::string> corpora;            // names or folders
  OwnModel model;                              // a corpus beside these
  std::filesystem::path made = "runs/models";  // where it is made
  bool gradients = false;  // of the corpora's own models, too
  plan::Selection selection;
  std::string command;  // as typed
};

/// The names of the corpora; none named: those that the backends are about.
std::vector<std::string> CorporaFor(
    const std::vector<plan::PlannedBackend>& backends,
    std::vector<std::string> names);

/// "; found 9 elements, wanted 0 to 5": why a suite has no case of that name.
/// Else the nearest of the ids (file::NearestText).
std::string WhyNoCase(std::string_view test_id,
                      const std::vector<std::string>& ids);

/// The corpora of those names or folders; none named: kDefaultCorpora.
struct NamedCorpora {
  std::vector<cases::Corpus> corpora;
  std::vector<std::filesystem::path> directories;
};
/// Where `only` names test_ids, the other cases may be left out, but for those
/// that they are derived from; one that its suite makes by its name is there,
/// listed or not.
Result<NamedCorpora> OpenCorpora(const std::vector<std::string>& names,
                                 std::vector<std::string> only = {});

/// Those of a plan, in its order, since some are derived from others; `only` as
/// above. The caller has to ask if they are still what was planned with.
Result<NamedCorpora> OpenPlanned(const plan::Plan& plan,
                                 std::vector<std::string> only = {});

/// Resolves backends, reads corpora and policies, and plans. The files of the
/// planned cases are those of their manifests. `digests` are the run's.
Result<plan::Plan> PlanOf(const SelectionOptions& options,
                          const file::FileDigests& digests = {});

/// Checks that the sources of a plan are still there: corpora, with the files
/// of these rows, modules and policies, assay-worker and the core. Failed
/// precondition, naming it, when something is another.
Status CheckPlanned(const plan::Plan& plan, const std::vector<size_t>& rows,
                    const file::FileDigests& digests);

/// Fills TestCase::ranks of the cases that have none and a model on file, from
/// the types that ONNX's inference finds, for a query that asks for them; few
/// do, and no file of a corpus has them. One whose model cannot be read stays
/// without.
void AddRanks(std::span<cases::TestCase> cases);

}  // namespace assay::select

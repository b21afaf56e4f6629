// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/select/chosen_case.h"

#include <algorithm>
#include <system_error>

#include "framework/cli/select/selection.h"
#include "framework/file/file.h"
#include "framework/file/nearest.h"
#include "framework/testing/plan/resolve.h"
#include "framework/testing/suite/suite.h"

namespace assay::select {
namespace {

namespace fs = std::filesystem;

/// The result of a case in a run, and the case's origin.
struct InRun {
  record::ResultRow result;
  std::string spec;
  std::vector<std::string> corpora;  // names or folders, all of the run's
  int64_t seed = 0;
};

Result<InRun> FindInRun(const CaseOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const auto results, ReadTable<record::ResultRow>(
                                                 options.run, "results.csv"));
  ASSAY_ASSIGN_OR_RETURN(const plan::Plan plan, plan::ReadPlan(options.run));
  InRun found;
  std::vector<std::string> ids;
  std::vector<std::string> backends;
  for (const record::ResultRow& row : results) {
    ids.push_back(row.test_id);
    if (row.test_id != options.test_id) continue;
    backends.push_back(row.backend);
    if (options.backend.empty() || row.backend == options.backend) {
      found.result = row;
    }
  }
  if (backends.empty()) {
    return InvalidArgument("the run ", options.run.string(), " has no case ",
                           options.test_id,
                           file::NearestText(options.test_id, ids));
  }
  if (found.result.test_id.empty() ||
      (options.backend.empty() && backends.size() > 1)) {
    return InvalidArgument(
        "the run ", options.run.string(), " has ", options.test_id, " on ",
        Joined(backends), ", wanted one of them as --backend",
        options.backend.empty() ? "" : ", found " + options.backend);
  }
  found.spec = plan.Backend(found.result.backend).spec;
  found.seed = plan.selection.seed;
  for (const plan::CorpusUse& corpus : plan.corpora) {
    found.corpora.push_back(corpus.directory);
  }
  return found;
}

/// The corpora of a command that names some, or those that the backend is
/// about.
Result<std::vector<std::string>> CorporaOf(const SelectionOptions& selection,
                                           const file::FileDigests& digests) {
  ASSAY_ASSIGN_OR_RETURN(
      plan::PlannedBackend backend,
      plan::ResolveBackend(selection.backends.at(0), digests));
  return CorporaFor({std::move(backend)}, selection.corpora);
}

/// The case of that name; of none: the first.
Result<cases::TestCase> FindCase(const std::string& test_id,
                                 const std::vector<std::string>& corpora,
                                 std::string* corpus_hash) {
  std::vector<std::string> only;
  if (!test_id.empty()) only.push_back(test_id);
  ASSAY_ASSIGN_OR_RETURN(NamedCorpora opened, OpenCorpora(corpora, only));
  for (cases::Corpus& corpus : opened.corpora) {
    if (test_id.empty() && !corpus.bad.empty()) {
      return InvalidArgument("bad case: ", corpus.bad[0]);
    }
    for (cases::TestCase& c : corpus.cases) {
      if (!test_id.empty() && c.test_id != test_id) continue;
      *corpus_hash = corpus.hash;
      return std::move(c);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(const NamedCorpora all, OpenCorpora(corpora));
  std::vector<std::string> ids;
  for (const cases::Corpus& corpus : all.corpora) {
    for (const cases::TestCase& c : corpus.cases) ids.push_back(c.test_id);
  }
  return InvalidArgument("found no case ", test_id, " among ", ids.size(),
                         WhyNoCase(test_id, ids));
}

}  // namespace

Result<std::string> ReadRunFile(const fs::path& run, const char* file) {
  std::error_code error;
  if (!fs::exists(run / file, error)) {
    return InvalidArgument(run.string(), " is no run: found no ", file,
                           " there, wanted a folder that assay run wrote");
  }
  return file::ReadFile(run / file);
}

Result<cases::CaseData> DataOf(const cases::TestCase& c) {
  const suite::Suite* const suite = suite::FindSuite(c.suite);
  if (suite != nullptr && suite->subject != nullptr) {
    return InvalidArgument(c.test_id, " is made from ",
                           c.directory.filename().string(),
                           " and the seed: it is run again by its id, and has "
                           "no data of its own that could be written");
  }
  if (!c.directory.empty()) {
    return c.limit.comparator == record::Comparator::kOracle
               ? cases::ReadCaseInputs(c.directory, c.n_data_sets)
               : cases::ReadCaseData(c.directory, c.n_data_sets);
  }
  return InvalidArgument(c.test_id, " is a program of the suite ", c.suite,
                         ": it has no model and no data that could be written");
}

Result<ChosenCase> Choose(const CaseOptions& options) {
  ChosenCase chosen;
  SelectionOptions selection;
  selection.backends = {options.backend};
  selection.corpora = options.corpora;
  if (!options.model.file.empty()) {
    ASSAY_ASSIGN_OR_RETURN(
        const OwnCorpus own,
        MakeCorpus(options.model, options.seed, options.made));
    selection.corpora = {own.directory.string()};
  }
  selection.selection.seed = options.seed;
  if (!options.run.empty()) {
    ASSAY_ASSIGN_OR_RETURN(InRun found, FindInRun(options));
    selection.backends = {found.spec};
    selection.corpora = std::move(found.corpora);
    selection.selection.seed = found.seed;
    chosen.run_id = found.result.run_id;
    chosen.in_run = std::move(found.result);
  } else if (options.backend.empty()) {
    return InvalidArgument("wanted --backend, or --run with a run of one");
  }
  const file::FileDigests& digests = *chosen.digests;
  ASSAY_ASSIGN_OR_RETURN(selection.corpora, CorporaOf(selection, digests));
  if (options.test_id.empty() && options.model.file.empty()) {
    return InvalidArgument("found no case, wanted TEST_ID or --model");
  }
  ASSAY_ASSIGN_OR_RETURN(
      chosen.test_case,
      FindCase(options.test_id, selection.corpora, &chosen.corpus_hash));
  selection.selection.filter = "id:" + chosen.test_case.test_id;
  selection.selection.tier = ToString(chosen.test_case.tier);
  ASSAY_ASSIGN_OR_RETURN(const plan::Plan plan, PlanOf(selection, digests));
  for (const plan::CorpusUse& corpus : plan.corpora) {
    if (corpus.name == chosen.test_case.corpus) {
      chosen.corpus_directory = corpus.directory;
    }
  }
  chosen.row = plan.rows.at(0);
  chosen.backend = plan.backends.at(0);
  chosen.seed = selection.selection.seed;
  chosen.timeout_s = options.timeout_s;
  return chosen;
}

}  // namespace assay::select

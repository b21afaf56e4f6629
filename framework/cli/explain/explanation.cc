// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/explain/explanation.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "framework/cli/commands.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/ranks.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/nearest.h"
#include "framework/testing/plan/plan_file.h"
#include "framework/testing/record/tables.h"

namespace assay::explain {
namespace {

namespace fs = std::filesystem;

/// The line that "file:12" names below a policy's folder, read anew.
PolicySentence SentenceAt(const fs::path& directory, const std::string& source,
                          const std::string& because) {
  PolicySentence sentence{source, {}, false};
  const size_t colon = source.rfind(':');
  if (colon == std::string::npos) return sentence;
  const auto number = file::ParseInt(source.substr(colon + 1));
  const auto text = file::ReadFile(directory / source.substr(0, colon));
  if (!number.has_value() || !text.ok()) return sentence;
  size_t at = 0;
  for (int64_t i = 1; i < *number && at < text->size(); ++i) {
    at = std::min(text->find('\n', at), text->size() - 1) + 1;
  }
  sentence.text = text->substr(at, text->find('\n', at) - at);
  sentence.changed = sentence.text.find(because) == std::string::npos;
  return sentence;
}

/// Reads the tables of a run once, and picks one case out of them.
class RunReader {
 public:
  static Result<RunReader> Open(const fs::path& run) {
    RunReader reader;
    reader.folder_ = run;
    ASSAY_ASSIGN_OR_RETURN(
        reader.results_,
        select::ReadTable<record::ResultRow>(run, "results.csv"));
    ASSAY_ASSIGN_OR_RETURN(
        reader.attempts_,
        select::ReadTable<record::ResultRow>(run, "attempts.csv"));
    ASSAY_ASSIGN_OR_RETURN(
        reader.accuracy_,
        select::ReadTable<record::AccuracyRow>(run, "accuracy.csv"));
    ASSAY_ASSIGN_OR_RETURN(reader.env_,
                           select::ReadTable<record::EnvRow>(run, "env.csv"));
    ASSAY_ASSIGN_OR_RETURN(reader.runs_,
                           select::ReadTable<record::RunRow>(run, "runs.csv"));
    ASSAY_ASSIGN_OR_RETURN(
        reader.backends_,
        select::ReadTable<record::BackendRow>(run, "backends.csv"));
    for (const record::Table* table : record::Tables()) {
      // An older run may be without those that suites have added since.
      const std::string name = StrCat(table->name, ".csv");
      std::error_code error;
      if (table->n_key == 0 || table == &record::TableOf<record::ResultRow>() ||
          table == &record::TableOf<record::AccuracyRow>() ||
          !fs::exists(run / name, error)) {
        continue;
      }
      ASSAY_ASSIGN_OR_RETURN(reader.added_[table], file::ReadFile(run / name));
    }
    ASSAY_RETURN_IF_ERROR(select::ReadRunFile(run, "plan.json").status());
    ASSAY_ASSIGN_OR_RETURN(reader.plan_, plan::ReadPlan(run));
    return reader;
  }

  Result<std::vector<Explanation>> Of(const std::string& test_id,
                                      const std::string& backend) const;

 private:
  Status NotThere(const std::string& test_id, const std::string& backend) const;
  Result<Explanation> Explain(const record::ResultRow& result) const;
  void AddPolicy(Explanation* explanation) const;
  void AddClaims(const plan::BackendUse& backend,
                 Explanation* explanation) const;

  fs::path folder_;
  plan::Plan plan_;
  std::vector<record::ResultRow> results_, attempts_;
  std::vector<record::AccuracyRow> accuracy_;
  std::vector<record::EnvRow> env_;
  std::vector<record::RunRow> runs_;
  std::vector<record::BackendRow> backends_;
  std::map<const record::Table*, std::string> added_;  // their files
};

Status RunReader::NotThere(const std::string& test_id,
                           const std::string& backend) const {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (const record::ResultRow& row : results_) {
    ids.push_back(row.test_id);
    if (row.test_id == test_id) others.push_back(row.backend);
  }
  const std::string where = StrCat("the run ", folder_.string());
  if (!others.empty()) {
    return InvalidArgument(where, " has ", test_id, " on ", Joined(others),
                           ", not on ", backend);
  }
  return InvalidArgument(where, " has no case ", test_id,
                         file::NearestText(test_id, ids));
}

void RunReader::AddClaims(const plan::BackendUse& backend,
                          Explanation* explanation) const {
  const record::PlanRow& planned = explanation->planned;
  explanation->claims_anything = !backend.claims.empty();
  // A line past its date is still the one that the run went by.
  const auto policy = policy::ReadPolicy(
      backend.policy_dir, policy::MachineFacts(backend.isa), "0000-00-00");
  const auto used =
      std::ranges::find(plan_.corpora, planned.corpus, &plan::CorpusUse::name);
  if (!policy.ok() || used == plan_.corpora.end()) return;
  auto opened = select::OpenPlanned(plan_);
  if (!opened.ok()) return;
  const auto at = static_cast<size_t>(used - plan_.corpora.begin());
  for (cases::TestCase& c : opened->corpora[at].cases) {
    if (c.test_id != planned.test_id) continue;
    if (policy->NeedsRanks()) select::AddRanks({&c, 1});
    for (const policy::ClaimCover& cover :
         policy->CoverOf(c, planned.backend)) {
      explanation->covers.push_back({cover.op, cover.dtype, cover.rank,
                                     cover.claim ? cover.claim->source : "",
                                     cover.claim ? cover.claim->text : ""});
    }
  }
}

void RunReader::AddPolicy(Explanation* explanation) const {
  const record::PlanRow& planned = explanation->planned;
  const plan::BackendUse& backend = plan_.Backend(planned.backend);
  if (!planned.expected_source.empty()) {
    explanation->expected = SentenceAt(
        backend.policy_dir, planned.expected_source, planned.because);
  }
  if (!planned.tolerate_source.empty()) {
    explanation->tolerated =
        SentenceAt(backend.policy_dir, planned.tolerate_source, "tolerate");
  }
  AddClaims(backend, explanation);
}

Result<Explanation> RunReader::Explain(const record::ResultRow& result) const {
  Explanation explanation;
  explanation.rows.result = result;
  for (const auto& [table, csv] : added_) {
    const Status read = record::AddRows(csv, *table, &explanation.rows);
    if (!read.ok()) return read.WithContext(folder_.string());
  }
  explanation.run = folder_.string();
  explanation.result = result;
  const auto same = [&](const auto& row) {
    return row.test_id == result.test_id && row.backend == result.backend;
  };
  std::ranges::copy_if(accuracy_, std::back_inserter(explanation.outputs),
                       same);
  std::ranges::copy_if(attempts_, std::back_inserter(explanation.attempts),
                       same);
  if (!runs_.empty()) explanation.made = runs_.front();
  for (const record::EnvRow& row : env_) {
    if (row.key == "cpu") explanation.cpu = row.value;
  }
  for (const record::BackendRow& row : backends_) {
    if (row.backend == result.backend) explanation.backend = row;
  }
  const auto planned = std::ranges::find_if(plan_.rows, same);
  if (planned != plan_.rows.end()) {
    explanation.planned = *planned;
    AddPolicy(&explanation);
  }
  return explanation;
}

Result<std::vector<Explanation>> RunReader::Of(
    const std::string& test_id, const std::string& backend) const {
  std::vector<Explanation> explanations;
  for (const record::ResultRow& row : results_) {
    if (row.test_id != test_id) continue;
    if (!backend.empty() && row.backend != backend) continue;
    ASSAY_ASSIGN_OR_RETURN(explanations.emplace_back(), Explain(row));
  }
  if (explanations.empty()) return NotThere(test_id, backend);
  return explanations;
}

}  // namespace

Result<std::vector<Explanation>> Explain(const fs::path& run,
                                         const std::string& test_id,
                                         const std::string& backend) {
  ASSAY_ASSIGN_OR_RETURN(const RunReader reader, RunReader::Open(run));
  return reader.Of(test_id, backend);
}

}  // namespace assay::explain

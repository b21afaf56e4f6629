// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/explain/explanation.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "framework/cli/commands.h"
#include "framework/cli/select/chosen_case.h"
#include "framework/cli/select/selection.h"
#include "framework/file/csv.h"
#include "framework/file/file.h"
#include "framework/file/nearest.h"
#include "framework/testing/plan/plan.h"
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

/// The tables of a run.
struct Tables {
  fs::path folder;
  plan::Plan plan;
  std::vector<record::ResultRow> results, attempts;
  std::vector<record::AccuracyRow> accuracy;
  std::vector<record::EnvRow> env;
  std::vector<record::RunRow> runs;
  std::vector<record::BackendRow> backends;
  std::map<const record::Table*, std::string> added;  // by suites, their files
};

Result<Tables> TablesOf(const fs::path& run) {
  Tables tables;
  tables.folder = run;
  const auto read = [&]<class Row>(const char* file,
                                   std::vector<Row>* rows) -> Status {
    ASSAY_ASSIGN_OR_RETURN(*rows, select::ReadTable<Row>(run, file));
    return OkStatus();
  };
  ASSAY_RETURN_IF_ERROR(read("results.csv", &tables.results));
  ASSAY_RETURN_IF_ERROR(read("attempts.csv", &tables.attempts));
  ASSAY_RETURN_IF_ERROR(read("accuracy.csv", &tables.accuracy));
  ASSAY_RETURN_IF_ERROR(read("env.csv", &tables.env));
  ASSAY_RETURN_IF_ERROR(read("runs.csv", &tables.runs));
  ASSAY_RETURN_IF_ERROR(read("backends.csv", &tables.backends));
  for (const record::Table* table : record::Tables()) {
    // An older run may be without those that suites have added since.
    const std::string name = StrCat(table->name, ".csv");
    std::error_code error;
    if (table->n_key == 0 || table == &record::TableOf<record::ResultRow>() ||
        table == &record::TableOf<record::AccuracyRow>() ||
        !fs::exists(run / name, error)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(tables.added[table], file::ReadFile(run / name));
  }
  ASSAY_RETURN_IF_ERROR(select::ReadRunFile(run, "plan.json").status());
  ASSAY_ASSIGN_OR_RETURN(tables.plan, plan::ReadPlan(run));
  return tables;
}

Status NotThere(const Tables& tables, const std::string& test_id,
                const std::string& backend) {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (const record::ResultRow& row : tables.results) {
    ids.push_back(row.test_id);
    if (row.test_id == test_id) others.push_back(row.backend);
  }
  const std::string where = StrCat("the run ", tables.folder.string());
  if (!others.empty()) {
    return InvalidArgument(where, " has ", test_id, " on ", Joined(others),
                           ", not on ", backend);
  }
  return InvalidArgument(where, " has no case ", test_id,
                         file::NearestText(test_id, ids));
}

void AddClaims(const Tables& tables, const plan::BackendUse& backend,
               Explanation* explanation) {
  const record::PlanRow& planned = explanation->planned;
  explanation->claims_anything = !backend.claims.empty();
  // A line past its date is still the one that the run went by.
  const auto policy = policy::ReadPolicy(
      backend.policy_dir, policy::MachineFacts(backend.isa), "0000-00-00");
  const auto used = std::ranges::find(tables.plan.corpora, planned.corpus,
                                      &plan::CorpusUse::name);
  if (!policy.ok() || used == tables.plan.corpora.end()) return;
  auto opened = select::OpenPlanned(tables.plan, {planned.test_id});
  if (!opened.ok()) return;
  const auto at = static_cast<size_t>(used - tables.plan.corpora.begin());
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

void AddPolicy(const Tables& tables, Explanation* explanation) {
  const record::PlanRow& planned = explanation->planned;
  const plan::BackendUse& backend = tables.plan.Backend(planned.backend);
  if (!planned.expected_source.empty()) {
    explanation->expected = SentenceAt(
        backend.policy_dir, planned.expected_source, planned.because);
  }
  if (!planned.tolerate_source.empty()) {
    explanation->tolerated =
        SentenceAt(backend.policy_dir, planned.tolerate_source, "tolerate");
  }
  AddClaims(tables, backend, explanation);
}

Result<Explanation> ExplainOne(const Tables& tables,
                               const record::ResultRow& result) {
  Explanation explanation;
  explanation.rows.result = result;
  for (const auto& [table, csv] : tables.added) {
    const Status read = record::AddRows(csv, *table, &explanation.rows);
    if (!read.ok()) return read.WithContext(tables.folder.string());
  }
  explanation.run = tables.folder.string();
  explanation.result = result;
  const auto same = [&](const auto& row) {
    return row.test_id == result.test_id && row.backend == result.backend;
  };
  std::ranges::copy_if(tables.accuracy, std::back_inserter(explanation.outputs),
                       same);
  std::ranges::copy_if(tables.attempts,
                       std::back_inserter(explanation.attempts), same);
  if (!tables.runs.empty()) explanation.made = tables.runs.front();
  for (const record::EnvRow& row : tables.env) {
    if (row.key == "cpu") explanation.cpu = row.value;
  }
  for (const record::BackendRow& row : tables.backends) {
    if (row.backend == result.backend) explanation.backend = row;
  }
  const auto planned = std::ranges::find_if(tables.plan.rows, same);
  if (planned != tables.plan.rows.end()) {
    explanation.planned = *planned;
    AddPolicy(tables, &explanation);
  }
  return explanation;
}

}  // namespace

Result<std::vector<Explanation>> Explain(const fs::path& run,
                                         const std::string& test_id,
                                         const std::string& backend) {
  ASSAY_ASSIGN_OR_RETURN(const Tables tables, TablesOf(run));
  std::vector<Explanation> explanations;
  for (const record::ResultRow& row : tables.results) {
    if (row.test_id != test_id) continue;
    if (!backend.empty() && row.backend != backend) continue;
    ASSAY_ASSIGN_OR_RETURN(explanations.emplace_back(),
                           ExplainOne(tables, row));
  }
  if (explanations.empty()) return NotThere(tables, test_id, backend);
  return explanations;
}

}  // namespace assay::explain

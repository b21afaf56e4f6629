// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <utility>

namespace assay::suite {
namespace {

std::vector<Suite>& Suites() {
  static auto* suites = new std::vector<Suite>();
  return *suites;
}

Status NoFiles(const record::PlanRow& row) {
  return Unsupported(Reason::kReader, row.test_id,
                     " is a program of the suite ", row.suite,
                     ", which has no files");
}

}  // namespace

bool AddSuite(Suite suite) {
  for (const record::ReasonMeaning& reason : suite.reasons)
    record::AddReason(reason);
  Suites().push_back(std::move(suite));
  return true;
}

const Suite* FindSuite(std::string_view name) {
  const auto found = std::ranges::find(Suites(), name, &Suite::name);
  return found == Suites().end() ? nullptr : &*found;
}

std::optional<cases::TestCase> CaseNamed(const Suite& suite,
                                         std::string_view test_id) {
  if (suite.sizing.named == nullptr) return std::nullopt;
  std::optional<SizedCase> named = suite.sizing.named(test_id);
  if (!named.has_value()) return std::nullopt;
  return std::move(named->test_case);
}

std::vector<Listing> Listings() {
  std::vector<Listing> all;
  for (const Suite& suite : Suites()) {
    all.insert(all.end(), suite.listings.begin(), suite.listings.end());
  }
  return all;
}

const Suite* SuiteOf(const record::PlanRow& row) {
  const Suite* suite = FindSuite(row.suite);
  const bool runs = suite != nullptr && suite->cases != nullptr &&
                    (suite->run != nullptr || suite->run_ranks != nullptr);
  return runs ? suite : nullptr;
}

const Suite* RunnerOf(const record::PlanRow& row) {
  const Suite* const own = SuiteOf(row);
  return own != nullptr ? own : FindSuite(kSuiteOfCorpora);
}

record::Outcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return record::Outcome::kPass;
    case StatusCode::kUnsupported:
      return record::Outcome::kUnsupported;
    case StatusCode::kUnavailable:
      return record::Outcome::kUnavailable;
    default:
      return record::Outcome::kError;
  }
}

std::vector<Question> QuestionsOf(const record::PlanRow& row,
                                  const record::RunFacts& facts) {
  if (const Suite* suite = SuiteOf(row); suite != nullptr) {
    return suite->ask == nullptr ? std::vector<Question>()
                                 : suite->ask(row, facts);
  }
  // One run does not tell what is drawn at random.
  if (row.comparator == record::Comparator::kDistribution) return {};
  return {EvaluationOf(row)};
}

bool NeedsAnswers(const record::PlanRow& row) {
  const Suite* suite = SuiteOf(row);
  return suite != nullptr && suite->needs_answers;
}

bool NeedsOracle(const record::PlanRow& row) {
  const Suite* suite = SuiteOf(row);
  return suite != nullptr && suite->needs_oracle;
}

Result<cases::CaseData> DataOf(const record::PlanRow& row) {
  if (row.directory.empty()) return NoFiles(row);
  return cases::ReadCaseData(row.directory, static_cast<int>(row.n_data_sets));
}

Result<Subject> SubjectOf(const record::PlanRow& row,
                          const record::RunFacts& facts) {
  const Suite* suite = SuiteOf(row);
  if (suite != nullptr && suite->subject != nullptr) {
    return suite->subject(row, facts);
  }
  if (row.directory.empty()) return NoFiles(row);
  ASSAY_ASSIGN_OR_RETURN(
      cases::CaseData data,
      cases::ReadCaseInputs(row.directory, static_cast<int>(row.n_data_sets)));
  Subject subject{std::move(data.model), {}, {}};
  for (cases::DataSet& set : data.sets) {
    subject.inputs.push_back(std::move(set.inputs));
  }
  return subject;
}

}  // namespace assay::suite

// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/suite/suite.h"

#include <algorithm>
#include <utility>

namespace assay::inline v1 {
namespace {

std::vector<Suite>& Suites() {
  static auto* suites = new std::vector<Suite>();
  return *suites;
}

Status NoFiles(const PlanRow& row) {
  return Unsupported(Reason::kReader, row.test_id,
                     " is a program of the suite ", row.suite,
                     ", which has no files");
}

}  // namespace

bool AddSuite(Suite suite) {
  for (const ReasonMeaning& reason : suite.reasons) AddReason(reason);
  Suites().push_back(std::move(suite));
  return true;
}

const Suite* FindSuite(std::string_view name) {
  const auto found = std::ranges::find(Suites(), name, &Suite::name);
  return found == Suites().end() ? nullptr : &*found;
}

const Suite* SuiteOf(const PlanRow& row) {
  const Suite* suite = FindSuite(row.suite);
  const bool runs =
      suite != nullptr && suite->cases != nullptr && suite->run != nullptr;
  return runs ? suite : nullptr;
}

std::vector<Question> QuestionsOf(const PlanRow& row, const RunFacts& facts) {
  if (const Suite* suite = SuiteOf(row); suite != nullptr) {
    return suite->ask == nullptr ? std::vector<Question>()
                                 : suite->ask(row, facts);
  }
  // One run does not tell what is drawn at random.
  if (row.comparator == Comparator::kDistribution) return {};
  return {EvaluationOf(row)};
}

Result<CaseData> DataOf(const PlanRow& row) {
  if (row.directory.empty()) return NoFiles(row);
  return ReadCaseData(row.directory, static_cast<int>(row.n_data_sets));
}

Result<CaseData> InputsOf(const PlanRow& row) {
  if (row.directory.empty()) return NoFiles(row);
  return ReadCaseInputs(row.directory, static_cast<int>(row.n_data_sets));
}

}  // namespace assay::inline v1

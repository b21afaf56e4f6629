// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/case_runner.h"

#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "framework/backend/exception.h"

namespace assay::inline v1 {
namespace {

int64_t PeakRssKilobytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// A judgement whose reason nobody has explained is an error of its suite.
void RequireMeaning(const Suite& suite, Judgement* verdict) {
  const std::string& code = verdict->reason.text();
  if (code.empty() || !MeaningOf(code).empty()) return;
  *verdict = {Outcome::kError, Reason::kReader,
              StrCat("the suite ", suite.name, " gave the reason '", code,
                     "', which it did not register; ", verdict->message)};
}

}  // namespace

Result<std::unique_ptr<Network>> SetBackend::Load(
    std::shared_ptr<const Model> model, const LoadOptions& options) {
  LoadOptions set = options;
  set.settings.insert(settings_.begin(), settings_.end());
  return backend_.Load(std::move(model), set);
}

CaseRunner::CaseRunner(Backend& backend, RunFacts facts, const Suite& otherwise)
    : facts_(std::move(facts)),
      backend_(backend, facts_.settings),
      otherwise_(otherwise),
      state_(ProcessState::Capture()) {}

const Suite& CaseRunner::RunnerOf(const PlanRow& row) const {
  const Suite* suite =
      facts_.suite.empty() ? SuiteOf(row) : FindSuite(facts_.suite);
  return suite != nullptr ? *suite : otherwise_;
}

Judgement CaseRunner::Judge(const PlanRow& row, Record* record) {
  const Suite& suite = RunnerOf(row);
  Judgement verdict;
  try {
    verdict = suite.run(row, backend_, facts_, record);
  } catch (...) {
    const Status status = StatusOfException(suite.name);
    verdict = {Outcome::kError, status.reason(), status.message()};
  }
  RequireMeaning(suite, &verdict);
  if (const std::string changed = state_.Restore(); !changed.empty()) {
    return {Outcome::kError, Reason::kStateChanged,
            StrCat("the backend changed the process' ", changed)};
  }
  return verdict;
}

Record CaseRunner::Run(const PlanRow& row) {
  Record record{ResultOf(row, facts_)};
  ResultRow& result = record.result;
  result.started_us = SteadyMicroseconds() - facts_.started_us;
  result.worker = std::to_string(getpid());
  const Judgement verdict = Judge(row, &record);
  result.outcome = verdict.outcome;
  result.reason_code = verdict.reason.text();
  result.message = verdict.message;
  result.peak_rss_kb = PeakRssKilobytes();
  return record;
}

}  // namespace assay::inline v1

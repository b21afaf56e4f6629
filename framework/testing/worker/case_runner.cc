// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/case_runner.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "framework/backend/exception.h"

namespace assay::worker {
namespace {

/// A judgement whose reason nobody has explained is an error of its suite.
void RequireMeaning(const suite::Suite& suite, measure::Judgement* verdict) {
  const std::string& code = verdict->reason.text();
  if (code.empty() || !record::MeaningOf(code).empty()) return;
  *verdict = {record::Outcome::kError, Reason::kReader,
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

Result<Ranks*> SetBackend::ranks(const Settings& settings) {
  Settings set = settings;
  set.insert(settings_.begin(), settings_.end());
  return backend_.ranks(set);
}

CaseRunner::CaseRunner(Backend& backend, record::RunFacts facts,
                       std::function<host::CaseEnd()> end)
    : facts_(std::move(facts)),
      backend_(backend, facts_.settings),
      end_(std::move(end)) {
  if (end_) return;
  state_ = ProcessState::Capture();
  end_ = [this] { return OwnEnd(); };
}

host::CaseEnd CaseRunner::OwnEnd() const {
  return {.changed = state_->Restore(), .peak_rss_kb = PeakRssKilobytes()};
}

const suite::Suite* CaseRunner::RunnerOf(const record::PlanRow& row) const {
  return facts_.suite.empty() ? suite::RunnerOf(row)
                              : suite::FindSuite(facts_.suite);
}

measure::Judgement CaseRunner::Judge(const record::PlanRow& row,
                                     record::Record* record) {
  const suite::Suite* const suite = RunnerOf(row);
  if (suite == nullptr) {
    return {record::Outcome::kError, Reason::kReader,
            StrCat("no suite of this program runs ", row.test_id)};
  }
  measure::Judgement verdict;
  try {
    verdict = suite->run(row, backend_, facts_, record);
  } catch (...) {
    const Status status = backend::StatusOfException(suite->name);
    verdict = {record::Outcome::kError, status.reason(), status.message()};
  }
  RequireMeaning(*suite, &verdict);
  const host::CaseEnd end = end_();
  record->result.peak_rss_kb = end.peak_rss_kb;
  if (end.changed.empty()) return verdict;
  return {record::Outcome::kError, Reason::kStateChanged,
          StrCat("the backend changed the process' ", end.changed)};
}

record::Record CaseRunner::Run(const record::PlanRow& row) {
  record::Record record{record::ResultOf(row, facts_)};
  record::ResultRow& result = record.result;
  result.started_us = record::SteadyMicroseconds() - facts_.started_us;
  result.worker = std::to_string(getpid());
  const measure::Judgement verdict = Judge(row, &record);
  result.outcome = verdict.outcome;
  result.reason_code = verdict.reason.text();
  result.message = verdict.message;
  return record;
}

}  // namespace assay::worker

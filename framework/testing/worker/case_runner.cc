// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/worker/case_runner.h"

#include <unistd.h>

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

CaseRunner::CaseRunner(const Opened& opened, record::RunFacts facts,
                       std::function<host::CaseEnd()> end)
    : facts_(std::move(facts)),
      communicator_(opened.communicator.get()),
      end_(std::move(end)) {
  if (opened.backend != nullptr) {
    backend_.emplace(*opened.backend, facts_.settings);
  }
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

measure::Judgement CaseRunner::RunBy(const suite::Suite& suite,
                                     const record::PlanRow& row,
                                     record::Record* record) {
  const bool is_of_ranks = suite.run == nullptr || row.ranks > 0;
  if (suite.run_ranks == nullptr || !is_of_ranks) {
    if (backend_.has_value()) return suite.run(row, *backend_, facts_, record);
    return {record::Outcome::kUnsupported, Reason::kOperator,
            StrCat(communicator_->name(),
                   " carries messages between ranks and runs no model")};
  }
  if (communicator_ == nullptr) {
    return {record::Outcome::kUnsupported, Reason::kOperator,
            StrCat(backend_->name(), " carries no messages between ranks")};
  }
  // Settings of an instance are the backend's, where there is one.
  const Result<Ranks*> ranks =
      communicator_->ranks(backend_.has_value() ? Settings() : facts_.settings);
  if (!ranks.ok()) {
    return {suite::OutcomeOf(ranks.status()), ranks.status().reason(),
            ranks.status().message()};
  }
  return suite.run_ranks(row, **ranks,
                         backend_.has_value() ? &*backend_ : nullptr, facts_,
                         record);
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
    verdict = RunBy(*suite, row, record);
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

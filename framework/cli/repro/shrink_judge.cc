// SPDX-License-Identifier: Apache-2.0

#include "framework/cli/repro/shrink_judge.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "framework/cli/repro/capsule.h"
#include "framework/cli/repro/case_folder.h"
#include "framework/testing/case/plain_corpus_case.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/suite/suite.h"

namespace assay::repro {
namespace {

namespace fs = std::filesystem;

// The limits of one batch.
constexpr size_t kBatch = 64;
constexpr int64_t kBatchElements = int64_t{32} << 20;

cases::Limit LimitOf(const cases::TestCase& c) {
  // Integers and strings are compared exactly under any limit.
  if (c.limit.comparator == record::Comparator::kTolerance) return c.limit;
  return cases::DefaultLimit({"float32"}, {});
}

}  // namespace

bool ByAnswers(const record::PlanRow& row) {
  return suite::NeedsAnswers(row) &&
         row.comparator != record::Comparator::kOracle;
}

std::string VerdictOf(const record::ResultRow& result) {
  return result.reason_code.empty()
             ? std::string(ToString(result.outcome))
             : StrCat(result.outcome, " (", result.reason_code, ")");
}

bool FailsAs(const record::ResultRow& found, const record::ResultRow& wanted) {
  return found.outcome == wanted.outcome &&
         found.reason_code == wanted.reason_code;
}

Status CheckFails(const select::ChosenCase& chosen,
                  const record::ResultRow& result) {
  const record::Outcome outcome = result.outcome;
  if (outcome != record::Outcome::kPass &&
      outcome != record::Outcome::kUnavailable) {
    return OkStatus();
  }
  std::string message = StrCat(result.test_id, " on ", chosen.backend.instance,
                               " is ", result.outcome, " when it runs alone");
  if (chosen.in_run.has_value() && chosen.in_run->outcome != result.outcome) {
    message += StrCat(", though ", chosen.in_run->outcome, " in the run");
  }
  return InvalidArgument(message, ": nothing to shrink");
}

ShrinkJudge::ShrinkJudge(const select::ChosenCase& chosen,
                         plan::BackendUse oracle, supervise::WorkFolder* work,
                         int64_t budget, Say say)
    : chosen_(chosen),
      by_answers_(ByAnswers(chosen.row)),
      backend_(chosen.backend, {chosen.seed, chosen.timeout_s, chosen.digests}),
      oracle_(std::move(oracle),
              {chosen.seed, chosen.timeout_s, chosen.digests}),
      work_(*work),
      budget_(budget),
      say_(std::move(say)),
      limit_(LimitOf(chosen.test_case)) {}

std::string ShrinkJudge::IdOf(size_t number) const {
  std::array<char, 16> name;
  std::snprintf(name.data(), name.size(), "%06zu", number);
  if (!by_answers_) return StrCat("model/shrink/", name.data());
  const std::string& id = chosen_.row.test_id;
  return StrCat(chosen_.row.suite, "/shrink/", name.data(),
                id.substr(std::min(id.find('#'), id.size())));
}

std::string ShrinkJudge::ShrunkId() const {
  std::string id = chosen_.row.test_id;
  return id.insert(std::min(id.find('#'), id.size()), "-shrunk");
}

record::PlanRow ShrinkJudge::RowOf(const Attempt& attempt) const {
  record::PlanRow row = chosen_.row;
  row.test_id = attempt.id;
  row.vacuous.clear();
  row.n_data_sets = 1;
  if (by_answers_) {
    row.oracle = attempt.oracle;
    return row;
  }
  row.suite = row.kind = "model";
  row.comparator = limit_.comparator;
  row.rtol = limit_.rtol;
  row.atol = limit_.atol;
  return row;
}

Result<record::ResultRow> ShrinkJudge::RunCase() {
  record::PlanRow row = chosen_.row;
  if (!suite::NeedsAnswers(row)) {
    ASSAY_ASSIGN_OR_RETURN(const auto results,
                           backend_.Judge({row}, work_.Next()));
    return results.at(0);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string declined,
                         AskOracle(oracle_, work_, &row));
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         backend_.Judge({row}, work_.Next()));
  if (!declined.empty() &&
      results.at(0).outcome == record::Outcome::kUnsupported) {
    return InvalidArgument(declined);
  }
  return results.at(0);
}

Result<std::vector<Value>> ShrinkJudge::Answers(const Draft& draft) {
  std::vector<Attempt> one(1);
  one[0].draft = draft;
  one[0].id = IdOf(0);
  ASSAY_RETURN_IF_ERROR(Ask(&one));
  if (one[0].verdict.empty()) return std::move(one[0].draft.expected);
  return FailedPrecondition(one[0].verdict);
}

/// Where the oracle declines, the judge goes without answers.
Status ShrinkJudge::AskExact(std::vector<Attempt>* attempts) {
  CaseFolder folder(work_);
  const fs::path answers = work_.Next();
  std::vector<Attempt*> asked;
  for (Attempt& attempt : *attempts) {
    if (!attempt.verdict.empty()) continue;
    if (auto typed = WithOutputTypes(attempt.draft); typed.ok()) {
      attempt.draft = *std::move(typed);
    }
    attempt.oracle = (answers / attempt.id).string();
    asked.push_back(&attempt);
    ASSAY_RETURN_IF_ERROR(folder.Add(RowOf(attempt), attempt.draft));
  }
  if (asked.empty()) return OkStatus();
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         oracle_.Answer(folder.rows(), work_.Next()));
  for (size_t i = 0; i < asked.size(); ++i) {
    const record::Outcome outcome = results[i].outcome;
    if (outcome == record::Outcome::kPass) continue;
    asked[i]->oracle.clear();
    if (outcome == record::Outcome::kUnsupported) continue;
    asked[i]->verdict =
        StrCat("the oracle says ", outcome, ", ", results[i].message);
  }
  return OkStatus();
}

Status ShrinkJudge::Ask(std::vector<Attempt>* attempts) {
  if (by_answers_) return AskExact(attempts);
  CaseFolder folder(work_);
  std::vector<Attempt*> asked;
  for (Attempt& attempt : *attempts) {
    if (!attempt.verdict.empty() || !attempt.draft.expected.empty()) continue;
    asked.push_back(&attempt);
    ASSAY_RETURN_IF_ERROR(folder.Add(RowOf(attempt), attempt.draft));
  }
  if (asked.empty()) return OkStatus();
  // The answers go to where the expected outputs of a case lie.
  ASSAY_ASSIGN_OR_RETURN(
      const auto results,
      oracle_.Dump(folder.rows(), work_.Next(), folder.root()));
  for (size_t i = 0; i < asked.size(); ++i) {
    Draft& draft = asked[i]->draft;
    if (results[i].outcome != record::Outcome::kPass) {
      asked[i]->verdict = StrCat("the oracle says ", results[i].outcome, ", ",
                                 results[i].message);
      continue;
    }
    Result<cases::CaseData> data =
        cases::ReadCaseData(folder.rows()[i].directory, 1);
    Result<Draft> typed = data.status();
    if (data.ok()) {
      draft.expected = std::move(data->sets[0].expected);
      typed = WithOutputTypes(draft);
    }
    if (typed.ok()) {
      draft = *std::move(typed);
    } else {
      asked[i]->verdict = typed.status().message();
    }
  }
  return OkStatus();
}

Status ShrinkJudge::Try(std::vector<Attempt>* attempts,
                        std::vector<record::ResultRow>* results) {
  CaseFolder folder(work_);
  for (const Attempt& attempt : *attempts) {
    ASSAY_RETURN_IF_ERROR(folder.Add(RowOf(attempt), attempt.draft));
  }
  ASSAY_ASSIGN_OR_RETURN(*results, backend_.Judge(folder.rows(), work_.Next()));
  tried_ += std::ssize(folder.rows());
  std::error_code ignored;
  for (const Attempt& attempt : *attempts) {
    if (!attempt.oracle.empty()) fs::remove_all(attempt.oracle, ignored);
  }
  return OkStatus();
}

/// Under the id that it will have, which may decide what is drawn for it.
Result<bool> ShrinkJudge::FailsAlone(const Draft& draft) {
  std::vector<Attempt> one(1);
  one[0].draft = draft;
  one[0].id = by_answers_ ? ShrunkId() : IdOf(0);
  if (by_answers_) ASSAY_RETURN_IF_ERROR(AskExact(&one));
  std::vector<record::ResultRow> results;
  ASSAY_RETURN_IF_ERROR(Try(&one, &results));
  return FailsAs(results.at(0), wanted_);
}

Result<std::optional<Kept>> ShrinkJudge::FirstOf(
    const std::vector<Candidate>& candidates, size_t begin, size_t end) {
  std::vector<Attempt> attempts;
  for (size_t i = begin; i < end; ++i) {
    Attempt& attempt = attempts.emplace_back();
    attempt.index = i;
    attempt.id = IdOf(attempts.size() - 1);
    Result<Draft> draft = candidates[i].make();
    if (draft.ok()) {
      attempt.draft = *std::move(draft);
    } else {
      attempt.verdict = draft.status().message();
    }
  }
  ASSAY_RETURN_IF_ERROR(Ask(&attempts));
  const auto note = [&](const Attempt& attempt, const std::string& verdict) {
    say_(StrCat("  ", candidates[attempt.index].what, ": ", verdict));
  };
  for (const Attempt& attempt : attempts) {
    if (!attempt.verdict.empty()) note(attempt, attempt.verdict);
  }
  std::erase_if(attempts, [](const Attempt& a) { return !a.verdict.empty(); });
  if (attempts.empty()) return std::optional<Kept>();
  std::vector<record::ResultRow> results;
  ASSAY_RETURN_IF_ERROR(Try(&attempts, &results));
  for (size_t i = 0; i < attempts.size(); ++i) {
    if (!FailsAs(results[i], wanted_)) {
      note(attempts[i], VerdictOf(results[i]));
      continue;
    }
    // The cases before it in the worker must not matter.
    ASSAY_ASSIGN_OR_RETURN(const bool alone, FailsAlone(attempts[i].draft));
    note(attempts[i], VerdictOf(results[i]) +
                          (alone ? ", kept" : ", but not when it runs alone"));
    if (alone) {
      return std::optional<Kept>(
          {attempts[i].index, std::move(attempts[i].draft)});
    }
  }
  return std::optional<Kept>();
}

Result<std::optional<Kept>> ShrinkJudge::First(
    const std::vector<Candidate>& candidates) {
  size_t begin = 0;
  while (begin < candidates.size() && !Spent()) {
    size_t end = begin;
    int64_t elements = 0;
    const auto left = static_cast<size_t>(budget_ - tried_);
    while (end < candidates.size() && end - begin < std::min(kBatch, left)) {
      elements += candidates[end].elements;
      if (end > begin && elements > kBatchElements) break;
      ++end;
    }
    ASSAY_ASSIGN_OR_RETURN(auto kept, FirstOf(candidates, begin, end));
    if (kept.has_value()) return kept;
    begin = end;
  }
  return std::optional<Kept>();
}

Result<std::optional<Draft>> ShrinkJudge::FirstDraft(
    const std::vector<Candidate>& candidates) {
  ASSAY_ASSIGN_OR_RETURN(std::optional<Kept> kept, First(candidates));
  if (!kept.has_value()) return std::optional<Draft>();
  return std::optional<Draft>(std::move(kept->draft));
}

}  // namespace assay::repro

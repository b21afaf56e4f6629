// SPDX-License-Identifier: Apache-2.0

#include "framework/testing/verdict/unexpected.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "framework/core/text.h"
#include "framework/testing/record/outcome.h"
#include "framework/testing/verdict/oracle_word.h"

namespace assay::verdict {
namespace {

using record::Outcome;
using List = std::vector<Unexpected>;

/// The code of a result, or of an outcome that the worker gave no code for.
std::string CodeOf(const record::ResultRow& row) {
  if (row.outcome == Outcome::kXpass) return std::string(kExpectationCode);
  if (!row.reason_code.empty()) return row.reason_code;
  return std::string(row.outcome == Outcome::kMissing ? kAccountingCode
                                                      : ToString(row.outcome));
}

Unexpected ResultIs(const record::ResultRow& row, std::string reason,
                    std::string code) {
  return {
      row.backend,       row.test_id,     std::string(ToString(row.outcome)),
      std::move(reason), std::move(code), row.repro};
}

/// About a backend as a whole.
Unexpected BackendIs(const std::string& backend, std::string_view outcome,
                     std::string_view code, std::string reason) {
  return {backend, "", std::string(outcome), std::move(reason),
          std::string(code)};
}

/// The message of an unexpected result; of a fail with the word of an oracle.
std::string ReasonOf(const record::Record& record) {
  const auto rows = record.Rows<record::AccuracyRow>();
  const std::string word = record.result.outcome == Outcome::kFail && rows.ok()
                               ? OracleWord(*rows)
                               : std::string();
  if (word.empty()) return record.result.message;
  return StrCat(record.result.message, "; ", word);
}

/// True when an expectation no longer says what happens, and the outcome alone
/// would not be red: an expected fail that is now declined, or waived.
bool IsStale(const record::PlanRow& planned, const record::ResultRow& final) {
  if (!planned.expected.has_value() || planned.expected == final.outcome) {
    return false;
  }
  return final.outcome == Outcome::kUnsupported ||
         (final.outcome == Outcome::kWaived && !planned.expected_at_some_seeds);
}

void AddResult(const record::PlanRow& planned, const record::Record& record,
               List* list) {
  const record::ResultRow& result = record.result;
  if (record::IsUnexpected(result.outcome)) {
    list->push_back(ResultIs(result, ReasonOf(record), CodeOf(result)));
  }
  if (IsStale(planned, result)) {
    list->push_back(
        ResultIs(result,
                 StrCat("expected ", ExpectedText(planned), " by ",
                        planned.expected_source, ", found: ", result.message),
                 std::string(kExpectationCode)));
  }
}

/// test_ids of the floor that did not pass.
void AddLost(const plan::Plan& plan, const plan::BackendUse& backend,
             const Found& found, List* list) {
  std::map<std::string_view, const record::ResultRow*> seen;
  for (const auto& [result, rows] : found.final) {
    if (result.backend == backend.instance) {
      seen.emplace(result.test_id, &result);
    }
  }
  const std::string code(kFloorCode);
  for (const std::string& test_id : backend.floor) {
    const auto known = seen.find(test_id);
    if (known == seen.end()) {
      if (!found.whole || plan.Partial()) continue;
      list->push_back({backend.instance, test_id, "missing",
                       "in passing.txt, but no longer among the planned cases",
                       code});
      continue;
    }
    const record::ResultRow& result = *known->second;
    // A result that is unexpected by itself is listed already, and a library
    // that is missing is said of the backend.
    if (result.outcome != Outcome::kPass &&
        result.outcome != Outcome::kUnavailable &&
        !record::IsUnexpected(result.outcome)) {
      list->push_back(ResultIs(result, "lost from passing.txt", code));
    }
  }
}

/// Counts of one backend.
struct Counted {
  int64_t planned = 0, judged = 0, unavailable = 0;
  std::string why;  // the first that is unavailable
};

Counted Count(const plan::BackendUse& backend, const Found& found) {
  Counted counted;
  for (const auto& [result, rows] : found.final) {
    if (result.backend != backend.instance) continue;
    ++counted.planned;
    if (record::IsJudged(result.outcome)) ++counted.judged;
    if (result.outcome != Outcome::kUnavailable) continue;
    if (++counted.unavailable == 1) counted.why = result.message;
  }
  const auto told = found.backends.find(backend.instance);
  if (told != found.backends.end() &&
      !told->second.unavailable_reason.empty()) {
    counted.why = told->second.unavailable_reason;
  }
  return counted;
}

/// A library that is not there, and a backend that judged nothing.
void AddIdle(const plan::BackendUse& backend, const Found& found, List* list) {
  const Counted counted = Count(backend, found);
  const std::string& name = backend.instance;
  if (counted.unavailable > 0 && !found.allow_unavailable) {
    list->push_back(BackendIs(
        name, ToString(Outcome::kUnavailable), ToString(Reason::kDevice),
        StrCat("no library or device for ", counted.unavailable, " of ",
               counted.planned, " cases: ", counted.why,
               " (--allow-unavailable lets a run go without it)")));
  }
  // A backend that has no case beside one that has some was not asked.
  const bool asked = counted.planned > 0 || found.final.empty();
  if (found.whole && asked && counted.judged + counted.unavailable == 0) {
    list->push_back(BackendIs(
        name, "nothing judged", kAccountingCode,
        StrCat("none of ", counted.planned, " planned cases was judged")));
  }
}

/// Lines of a policy that are wrong. A filtered plan cannot say that a line is
/// of no use.
void AddLines(const plan::Plan& plan, const plan::BackendUse& backend,
              const Found& found, List* list) {
  const bool has_cases =
      std::ranges::any_of(found.final, [&](const record::Record& record) {
        return record.result.backend == backend.instance;
      });
  if (!found.whole || !has_cases || plan.Partial()) return;
  for (const std::string& line : backend.policy_errors) {
    list->push_back(BackendIs(backend.instance, "policy", kPolicyCode, line));
  }
}

/// Lines of a policy were chosen for instruction sets that a worker may not
/// have had, on another processor or with another environment.
void AddIsa(const plan::BackendUse& backend, const Found& found, List* list) {
  const auto told = found.isa.find(backend.instance);
  if (!backend.needs_isa || told == found.isa.end()) return;
  const std::string planned = Joined(backend.isa, " ");
  for (const std::string& isa : told->second) {
    if (isa == planned) continue;
    list->push_back(BackendIs(backend.instance, "policy", kPolicyCode,
                              StrCat("it ran with the instruction sets '", isa,
                                     "', and its policy is that for '", planned,
                                     "': plan where it runs")));
  }
}

}  // namespace

std::string ExpectedText(const record::PlanRow& planned) {
  return StrCat(*planned.expected,
                planned.expected_at_some_seeds ? " at some seeds" : "");
}

List UnexpectedOf(const plan::Plan& plan, const Found& found) {
  List list;
  for (size_t i = 0; i < found.final.size(); ++i) {
    AddResult(plan.rows[found.rows[i]], found.final[i], &list);
  }
  list.insert(list.end(), found.charged.begin(), found.charged.end());
  for (const record::ResultRow& loss : found.losses) {
    list.push_back(ResultIs(loss, loss.message, CodeOf(loss)));
  }
  // Faults of the person's own folders are no backend's.
  for (const std::string& bad : plan.bad_cases) {
    if (found.whole) list.push_back({"", "", "bad case", bad, "bad_case"});
  }
  for (const plan::BackendUse& backend : plan.backends) {
    AddLost(plan, backend, found, &list);
    AddIdle(backend, found, &list);
    AddLines(plan, backend, found, &list);
    AddIsa(backend, found, &list);
  }
  return list;
}

}  // namespace assay::verdict

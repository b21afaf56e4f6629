// SPDX-License-Identifier: Apache-2.0

#include "perf/times/suite/problem_judge.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/core/text.h"
#include "framework/testing/draw/inputs.h"
#include "framework/testing/times/problem_row.h"
#include "perf/problems/cut.h"
#include "perf/problems/make_problem.h"
#include "perf/times/case.h"
#include "perf/times/judge.h"
#include "perf/times/roof_rows.h"
#include "perf/times/subject.h"
#include "perf/times/suite/problem_case.h"

namespace assay::times {
namespace {

using problems::Fate;
using problems::Problem;
using record::Outcome;

/// A first call also makes what the others use: it may take so many of them.
constexpr double kFirst = 5;

measure::Judgement Undecided(std::string why) {
  return {Outcome::kUnsupported,
          record::ReasonCode(std::string(record::kUndecided)), std::move(why)};
}

measure::Judgement TooBig(Fate fate, std::string_view what, double found,
                          double wanted, std::string_view unit) {
  return Undecided(StrCat(ToString(fate), ": ", what, " ", found, " ", unit,
                          ", wanted at most ", wanted));
}

measure::Judgement TooLong(std::string_view what, double found_s,
                           double wanted_s) {
  return TooBig(Fate::kTooMuchTime, what, found_s, wanted_s, "s");
}

/// The fault of the outputs' types; empty: none.
std::string TypeFault(const Graph& graph, std::span<const Value> outputs) {
  for (size_t i = 0; i < outputs.size() && i < graph.outputs.size(); ++i) {
    const ValueType& want = graph[graph.outputs[i]].type;
    const ValueType got = outputs[i].Type();
    if (got != want) {
      return StrCat("output ", i, ": found ", got.ToString(), ", wanted ",
                    want.ToString());
    }
  }
  return "";
}

/// Judges the outputs of a whole by the answers to its cut.
JudgesOutputs ByPart(std::shared_ptr<const Model> whole, problems::Cut cut,
                     JudgesOutputs part) {
  return
      [whole = std::move(whole), cut = std::move(cut),
       part = std::move(part)](std::span<const Value> outputs) -> std::string {
        std::string fault = TypeFault(whole->graph(), outputs);
        if (!fault.empty()) return fault;
        const auto taken = problems::TakenOf(outputs, cut.outputs);
        return taken.ok() ? part(*taken) : taken.status().message();
      };
}

int64_t CountKnown(const std::vector<measure::ExactAnswer>& answers) {
  int64_t known = 0;
  for (const measure::ExactAnswer& answer : answers) {
    if (!answer.bound.defined()) continue;
    known += std::ranges::count_if(answer.bound.elements<double>(),
                                   [](double x) { return std::isfinite(x); });
  }
  return known;
}

/// The elements of all outputs whose shapes are declared.
int64_t ElementsOf(const Graph& graph) {
  int64_t sum = 0;
  for (const ValueId id : graph.outputs) {
    const auto shape = graph[id].type.StaticShape();
    const auto count = shape.value_or(Shape()).NumElements();
    if (count.ok()) sum += *count;
  }
  return sum;
}

/// The subject of a problem that is timed.
struct Opened {
  TimedSubject timed;
  std::string undecided;  // why nothing says what is right; empty: all sets do
};

Status AddJudges(const Problem& problem, const record::PlanRow& row,
                 const record::RunFacts& facts, ProblemRow* noted,
                 TimedSubject* timed) {
  for (size_t i = 0; i < timed->subject.inputs.size(); ++i) {
    ASSAY_ASSIGN_OR_RETURN(auto answers,
                           ReadPartAnswers(problem, row, facts, i));
    noted->n_judged += CountKnown(answers);
    auto cut = CutOf(problem, static_cast<int>(i), facts);
    ASSAY_ASSIGN_OR_RETURN(const auto made,
                           problems::MakeProblem(cut->problem));
    timed->judges.push_back(
        ByPart(timed->subject.model, *std::move(cut),
               ByAnswers(made.model, LimitOf(row), std::move(answers))));
  }
  return noted->n_judged > 0
             ? OkStatus()
             : Unsupported(Reason::kValue, "the oracle knows no element of it");
}

Result<Opened> Open(const Problem& problem, const record::PlanRow& row,
                    const record::RunFacts& facts, ProblemRow* noted) {
  Opened opened;
  TimedSubject& timed = opened.timed;
  ASSAY_ASSIGN_OR_RETURN(timed.subject, WholeOf(problem, facts));
  timed.kinds = draw::KindsOf(timed.subject.model->graph());
  const Status judged = AddJudges(problem, row, facts, noted, &timed);
  if (judged.ok()) return opened;
  if (!row.oracle.empty() && judged.code() != StatusCode::kUnsupported) {
    return judged;
  }
  opened.undecided = judged.message();
  timed.judges.assign(timed.subject.inputs.size(),
                      [model = timed.subject.model](
                          std::span<const Value> outputs) -> std::string {
                        return TypeFault(model->graph(), outputs);
                      });
  return opened;
}

struct Fated {
  Fate fate = Fate::kFailed;
  measure::Judgement verdict;
};

Fated FatedBy(measure::Judgement verdict) {
  const bool declined = verdict.outcome == Outcome::kUnsupported ||
                        verdict.outcome == Outcome::kUnavailable;
  return {declined ? Fate::kDeclined : Fate::kFailed, std::move(verdict)};
}

Fated FateTimed(const Opened& opened, const record::PlanRow& row,
                Backend& backend, const record::RunFacts& facts,
                const problems::Limits& limits, record::Record* record) {
  const Ready ready = MakeReady(opened.timed, backend, BudgetOf(facts),
                                SeedOf(row, facts), &record->result);
  if (ready.timer == nullptr) return FatedBy(ready.verdict);
  const double first_s =
      static_cast<double>(record->result.run_us.value_or(0)) * 1e-6;
  if (first_s > kFirst * limits.seconds) {
    return {Fate::kTooMuchTime,
            TooLong("its first call takes", first_s, kFirst * limits.seconds)};
  }
  measure::Judgement verdict = JudgeReady(opened.timed, ready, backend, facts,
                                          {.roofs = &RoofsHere()}, record);
  if (verdict.outcome != Outcome::kPass) return FatedBy(std::move(verdict));
  if (opened.undecided.empty()) return {Fate::kTimed, std::move(verdict)};
  return {Fate::kTimed,
          Undecided(StrCat("it is timed, and nothing says what is right: ",
                           opened.undecided))};
}

Fated FateWithin(const Problem& problem, const record::PlanRow& row,
                 Backend& backend, const record::RunFacts& facts,
                 const problems::Limits& limits, ProblemRow* noted,
                 record::Record* record) {
  const auto needs = problems::NeedsOf(problem);
  const auto fate = problems::FateOf(needs, limits);
  if (!fate.ok()) return FatedBy(StoppedBy(fate.status()));
  if (*fate == Fate::kDeclined) return FatedBy(StoppedBy(needs.status()));
  noted->needed_bytes = needs->bytes;
  noted->flops = needs->work.flops;
  noted->least_s = problems::LeastSeconds(needs->work, limits);
  if (*fate == Fate::kTooMuchMemory) {
    return {*fate, TooBig(*fate, "its values take", needs->bytes / 1e9,
                          limits.bytes / 1e9, "GB")};
  }
  if (*fate == Fate::kTooMuchTime) {
    return {*fate,
            TooLong("a call takes at least", *noted->least_s, limits.seconds)};
  }
  const auto opened = Open(problem, row, facts, noted);
  if (!opened.ok()) return FatedBy(StoppedBy(opened.status()));
  noted->n_elements = ElementsOf(opened->timed.subject.model->graph());
  return FateTimed(*opened, row, backend, facts, limits, record);
}

}  // namespace

measure::Judgement JudgeProblem(const Problem& problem,
                                const record::PlanRow& row, Backend& backend,
                                const record::RunFacts& facts,
                                record::Record* record) {
  return JudgeWithin(problem, row, backend, facts, LimitsOf(facts), record);
}

measure::Judgement JudgeWithin(const Problem& problem,
                               const record::PlanRow& row, Backend& backend,
                               const record::RunFacts& facts,
                               const problems::Limits& limits,
                               record::Record* record) {
  ProblemRow noted;
  noted.problem_set = problem.set;
  noted.n_times = problem.times;
  noted.axis = problem.axis;
  if (!problem.axis.empty()) noted.size = problem.size;
  Fated fated =
      FateWithin(problem, row, backend, facts, limits, &noted, record);
  noted.fate = ToString(fated.fate);
  record->Add(noted);
  return std::move(fated.verdict);
}

}  // namespace assay::times

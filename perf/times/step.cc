// SPDX-License-Identifier: Apache-2.0

#include "perf/times/step.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "conformance/optimizer/case.h"
#include "conformance/optimizer/judge.h"
#include "framework/core/numbers.h"
#include "framework/core/text.h"
#include "framework/timing/sampler.h"
#include "framework/train/optdiff/course.h"
#include "framework/train/optdiff/locked_run.h"
#include "framework/train/optdiff/step_rows.h"
#include "framework/train/quad/lockstep_quad.h"
#include "perf/times/sources.h"

namespace assay::times {
namespace {

using optimizer::StepCase;
using record::Outcome;

/// Steps of one run, of which some are judged.
class Steps {
 public:
  Steps(optdiff::LockedRun& run, uint64_t seed)
      : run_(run), numbers_(seed), rows_({}, {}, /*record=*/nullptr) {}

  /// Draws whether the step before the next sample is judged, and takes the
  /// batch of the sample.
  Status Prepare() {
    constexpr uint64_t kOften = 16;
    if (step_ == 0 || numbers_.Below(kOften) == 0) {
      ASSAY_RETURN_IF_ERROR(Judge());
    }
    return run_.Put(step_ + 1);
  }

  /// Steps that are timed.
  Status Take(int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++step_) {
      ASSAY_RETURN_IF_ERROR(run_.StepAlone());
    }
    return OkStatus();
  }

  /// One step that is judged.
  Status Judge() {
    run_.Lock();
    ASSAY_ASSIGN_OR_RETURN(optdiff::StepFault fault,
                           run_.Step(++step_, &rows_));
    if (fault_.what.empty()) fault_ = std::move(fault);
    return OkStatus();
  }

  measure::Judgement verdict() const {
    if (fault_.what.empty()) {
      return optimizer::Decided({Outcome::kPass, Reason::kNone, ""},
                                run_.undecided());
    }
    return {Outcome::kFail, record::ReasonCode(std::string(fault_.reason)),
            StrCat("in a timed step, ", fault_.what)};
  }

 private:
  optdiff::LockedRun& run_;
  core::Numbers numbers_;
  optdiff::StepRows rows_;
  optdiff::StepFault fault_;
  int64_t step_ = 0;
};

}  // namespace

Result<Taken> TimeSteps(const record::PlanRow& row, Backend& backend,
                        const record::RunFacts& facts) {
  ASSAY_ASSIGN_OR_RETURN(const auto oracle, optimizer::OpenOracle(facts));
  record::PlanRow of_optimizer = row;
  of_optimizer.test_id = *StepIdOf(row.test_id);
  ASSAY_ASSIGN_OR_RETURN(const StepCase c,
                         optimizer::CaseOf(of_optimizer, facts));
  ASSAY_ASSIGN_OR_RETURN(
      const optdiff::Course course,
      optdiff::MakeCourse(c.network, c.type, c.Drawn("network"), c.steps()));
  ASSAY_ASSIGN_OR_RETURN(const optdiff::JudgeOf judge,
                         optdiff::JudgeFor(course, *oracle));
  ASSAY_ASSIGN_OR_RETURN(quad::OptimizerSetup setup,
                         quad::SetupOf({c.optimizer, c.preset, ""}));
  ASSAY_ASSIGN_OR_RETURN(const auto run, optdiff::LockedRun::Begin(
                                             course, std::move(setup), backend,
                                             judge, c.Drawn("roundings")));
  Steps steps(*run, SeedOf(row, facts));
  const timing::Sampler sampler;
  Taken taken{{"step", "warm", {}}, sampler.cost(), {}};
  ASSAY_ASSIGN_OR_RETURN(
      taken.phase.samples,
      sampler.Take([&](int64_t calls) { return steps.Take(calls); },
                   timing::Stopping({timing::HalfWidth{}, timing::Stabilised{},
                                     timing::Budget{BudgetOf(facts)}}),
                   {.before = [&] { return steps.Prepare(); }}));
  ASSAY_RETURN_IF_ERROR(steps.Judge());
  taken.verdict = steps.verdict();
  return taken;
}

}  // namespace assay::times

// SPDX-License-Identifier: Apache-2.0
//
// TimedSubject: the model of a case, the inputs that are judged and what is
// right at them; and the network of a backend, loaded and found right.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/suite/suite.h"
#include "framework/timing/machine/conditions.h"
#include "perf/times/case.h"
#include "perf/times/timer.h"

namespace assay::times {

struct TimedSubject {
  suite::Subject subject;
  draw::InputKinds kinds;  // none where the inputs are the case's own
  std::vector<JudgesOutputs> judges;  // by set of the subject's inputs
  int64_t batch = 0;  // inputs of a call of a whole model; 0: it is none
  /// Where gradients are timed, and judged, in the place of outputs.
  std::optional<Backward> backward = {};

  LoadOptions options() const;
};

/// The machine from here on.
class Meanwhile {
 public:
  Meanwhile();
  machine::Disturbance disturbance() const;
  /// It was not quiet until now.
  bool noisy() const;

 private:
  machine::Conditions before_;
  int64_t start_ns_;
};

/// How to know that it was.
using IsNoisy = std::function<bool(const Meanwhile&)>;

/// The verdict where a subject cannot be opened: undecided where the oracle has
/// no answer, since no backend was asked.
measure::Judgement Unopened(const Status& status);
/// The verdict where a backend stops.
measure::Judgement StoppedBy(const Status& status);
/// The verdict where a call failed that had gone well before.
measure::Judgement FailedIn(const Status& status);
/// The same where a timer did: suspect for times that cannot be.
measure::Judgement FailedIn(const Status& status, const Timer& timer);

inline constexpr char kForgedTime[] = "forged_time";

/// Judges what was timed, `call_ns` a call in samples of so many calls: fail
/// for wrong outputs, then suspect for times that are not to be believed, or
/// undecided where the machine was noisy then: noise delays one clock and not
/// the other, and a backend that makes it gains no pass.
Result<measure::Judgement> CheckHonest(double call_ns, int64_t calls,
                                       const IsNoisy& is_noisy, Timer* timer);

/// RunFacts::time_budget_s.
int64_t BudgetOf(const record::RunFacts& facts);
/// Another for each case, each seed and each attempt.
uint64_t SeedOf(const record::PlanRow& row, const record::RunFacts& facts);

/// Judges outputs of a model by an oracle's answers, one for each.
JudgesOutputs ByAnswers(std::shared_ptr<const Model> model, cases::Limit limit,
                        std::vector<measure::ExactAnswer> answers);

/// The limit of a planned case.
cases::Limit LimitOf(const record::PlanRow& row);

/// As SubjectOf, and as redrawn::ReadAnswers where the inputs are drawn. Not of
/// a case of gradients (gradient.h).
Result<TimedSubject> OpenSubject(const record::PlanRow& row,
                                 const record::RunFacts& facts);

/// A network that is right at the judged inputs, bound and ready. There is none
/// where the verdict is no pass.
struct Ready {
  measure::Judgement verdict;
  std::unique_ptr<Network> network;
  std::unique_ptr<Timer> timer;
};

/// `timed` must outlive what it gives; `result` gets the times and the
/// placement of the first run.
Ready MakeReady(const TimedSubject& timed, Backend& backend, int64_t budget_ns,
                uint64_t seed, record::ResultRow* result);

/// A phase that is no call of a model, and the verdict on what was timed; no
/// samples where this process has none.
struct Taken {
  Phase phase;
  timing::ClockCost cost;
  measure::Judgement verdict;
};

}  // namespace assay::times

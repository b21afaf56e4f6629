// SPDX-License-Identifier: Apache-2.0
//
// TimedSubject: the model of a case, the inputs that are judged and what is
// right at them; and the network of a backend, loaded and found right.

#pragma once

#include <cstdint>
#include <memory>
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
};

/// The verdict where a subject cannot be opened.
measure::Judgement StoppedBy(const Status& status);
/// The verdict where a call failed that had gone well before.
measure::Judgement FailedIn(const Status& status);
/// The same where a timer did: suspect for times that cannot be.
measure::Judgement FailedIn(const Status& status, const Timer& timer);

inline constexpr char kForgedTime[] = "forged_time";

/// Judges what was timed, `call_ns` a call in samples of so many calls: fail
/// for wrong outputs, then suspect for times that are not to be believed.
Result<measure::Judgement> CheckHonest(double call_ns, int64_t calls,
                                       Timer* timer);

/// RunFacts::time_budget_s.
int64_t BudgetOf(const record::RunFacts& facts);
/// Another for each case, each seed and each attempt.
uint64_t SeedOf(const record::PlanRow& row, const record::RunFacts& facts);

/// As SubjectOf, and as redrawn::ReadAnswers where the inputs are drawn.
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

}  // namespace assay::times

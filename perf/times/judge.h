// SPDX-License-Identifier: Apache-2.0
//
// JudgeTimes: times one case on a backend. JudgeBeside: times it on a backend
// and on another one beside it. The verdict is on the outputs of timed calls
// and on the honesty of times, never on how long they are.

#pragma once

#include <cstdint>
#include <functional>

#include "framework/backend/backend.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"
#include "framework/testing/record/rows.h"
#include "perf/roofs/roofs.h"
#include "perf/times/subject.h"

namespace assay::times {

/// Adds rows of the tables time and time_samples. A case that a noisy
/// machine disturbed is timed a second time.
measure::Judgement JudgeTimes(const record::PlanRow& row, Backend& backend,
                              const record::RunFacts& facts,
                              record::Record* record);

/// The roofs, and how to know that the machine was noisy.
struct Machine {
  roofs::Roofs* roofs = nullptr;  // null: rows have none
  IsNoisy is_noisy = &Meanwhile::noisy;
};

/// The same of a subject that is open.
measure::Judgement JudgeSubject(const TimedSubject& timed, Backend& backend,
                                const record::RunFacts& facts, uint64_t seed,
                                const Machine& machine, record::Record* record);

/// The same of a network of it that is ready.
measure::Judgement JudgeReady(const TimedSubject& timed, const Ready& ready,
                              Backend& backend, const record::RunFacts& facts,
                              const Machine& machine, record::Record* record);

/// The same of a phase that `take` takes.
measure::Judgement JudgeTaken(const record::RunFacts& facts,
                              record::Record* record,
                              const std::function<Result<Taken>()>& take);

/// Adds a row of the table compare. Unsupported where the base, which is
/// RunFacts::beside, does not run the case right.
measure::Judgement JudgeBeside(const record::PlanRow& row, Backend& backend,
                               const record::RunFacts& facts,
                               record::Record* record);

/// Two backends that are compared.
struct Pair {
  Backend& base;
  Backend& candidate;
};

/// The same of a subject that is open.
measure::Judgement JudgePair(const TimedSubject& timed, const Pair& pair,
                             const record::RunFacts& facts, uint64_t seed,
                             const IsNoisy& is_noisy, record::Record* record);

}  // namespace assay::times

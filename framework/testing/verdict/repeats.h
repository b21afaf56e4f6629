// SPDX-License-Identifier: Apache-2.0
//
// The repeats of a case: did it do the same each time, and which command does
// it again.
//
//   const Stability found = StabilityOf(record::Outcome::kFail, repeats);
//   result.repro = RepeatOf(plan, row, record::Outcome::kFail, repeats,
//                           &ReproOf);

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "framework/testing/plan/plan.h"
#include "framework/testing/record/rows.h"

namespace assay::verdict {

/// The judgement on a case that was repeated: one that did not pass is run
/// again alone, in a worker of its own. Where it then passes, or did crash and
/// alone does not, the cases before it are brought back, fewer and fewer, until
/// the one that spoils it is found. The attempts are rows of the table
/// `attempts`, and a merge reads the same meaning off them.
struct Stability {
  enum class Kind : uint8_t {
    kUnknown,         // not repeated
    kDeterministic,   // never passed
    kOrderDependent,  // passes alone, but not behind another case
    kFlaky,           // passes at times
    kCrashesBehind,   // never passes, and crashes behind other cases only
  } kind = Kind::kUnknown;
  /// "fails 4 of 4 times alone", for a person; empty when unknown.
  std::string text;
  /// For kCrashesBehind: the attempt that gives the outcome of the case itself.
  const record::ResultRow* alone = nullptr;
};

/// `repeats` are the attempts after a first one: alone where `after` is empty,
/// else in one worker behind the cases that it names. Unknown where all passed.
/// The result points into them.
Stability StabilityOf(record::Outcome first,
                      std::span<const record::ResultRow> repeats);

/// The command of a planned case alone: ReproOf.
using CommandOf = std::function<std::string(const plan::Plan& plan,
                                            const record::PlanRow& row)>;

/// The command of a row, and what the outcome needs besides the case: of one
/// that fails behind others only, these before it in one process and in their
/// order; of one that fails at times, as many attempts as show that in 999 of
/// 1000 runs. `first` and `repeats` are those of StabilityOf.
std::string RepeatOf(const plan::Plan& plan, const record::PlanRow& row,
                     record::Outcome first,
                     std::span<const record::ResultRow> repeats,
                     const CommandOf& command_of);

/// The words of a field that has several, with a space between.
std::vector<std::string> Words(const std::string& text);

/// The cases of the column `after`, their ids with a space between: "A", or "5
/// cases, from A to E".
std::string AfterText(const std::string& after);

}  // namespace assay::verdict

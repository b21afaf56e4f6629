// SPDX-License-Identifier: Apache-2.0
//
// Outcome: the verdict of one case on one backend. Every planned case gets
// exactly one.
//
//   if (IsUnexpected(outcome)) unexpected.push_back(test_id);
//
// A worker produces kPass, kFail, kUnsupported, kUnavailable and kError; the
// rest is the supervisor's to give.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

namespace assay::record {

enum class Outcome : uint8_t {
  kPass,         // judged within its limit
  kWaived,       // passed only under a loosened, reasoned tolerance
  kFail,         // wrong value, shape or dtype
  kSuspect,      // evidence that a pass proves nothing
  kUnsupported,  // declined at Load or Bind with a reason
  kUnavailable,  // library or device missing
  kXfail,        // failed exactly as expected
  kXpass,        // passed although expected to fail
  kFlaky,        // passed only on a repeat
  kError,        // exception or bad status
  kCrash,        // signal or early exit
  kTimeout,      // over its time limit
  kMissing,      // planned, without a verdict
};

inline constexpr int kOutcomeCount = 13;
using OutcomeCounts = std::array<int64_t, kOutcomeCount>;

std::string_view ToString(Outcome outcome);
std::optional<Outcome> ParseOutcome(std::string_view text);

/// As a field of a row (field.h), and in messages.
bool ParseWord(std::string_view text, Outcome* outcome);
std::ostream& operator<<(std::ostream& out, Outcome outcome);

/// True when the case was run and its result judged. A run needs at least one
/// such case. False for unsupported, unavailable and missing.
bool IsJudged(Outcome outcome);

/// True when a final outcome turns a run red if no expectation names it.
/// Unsupported and unavailable do not; claims and floors may.
bool IsUnexpected(Outcome outcome);

/// True when the case was run and went wrong: fail, suspect, error, crash or
/// timeout.
bool IsFailure(Outcome outcome);

}  // namespace assay::record

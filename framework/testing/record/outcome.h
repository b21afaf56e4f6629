// SPDX-License-Identifier: Apache-2.0
//
// The words of a verdict: its outcome, why it is not a pass, and how outputs
// were held against what is expected.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/core/status.h"

namespace assay::record {

/// The verdict of one case on one backend. Every planned case gets exactly one.
/// A worker produces kPass, kFail, kUnsupported, kUnavailable and kError; the
/// rest is the supervisor's to give.
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

/// How the outputs of a case are compared.
enum class Comparator : uint8_t {
  kExact,         // bit patterns of equal value: integers, booleans
  kTolerance,     // |got - want| <= atol + rtol * |want|
  kText,          // strings
  kDistribution,  // random operators: statistics over repeated draws
  kOracle,        // no outputs are expected: an oracle's answers
};

std::string_view ToString(Comparator comparator);
std::optional<Comparator> ParseComparator(std::string_view text);

bool ParseWord(std::string_view text, Comparator* comparator);
std::ostream& operator<<(std::ostream& out, Comparator comparator);

/// Why a verdict is not a pass, as one word that a program can sort by. The
/// words of core's Reason have a meaning here; a suite registers its own with a
/// sentence each (suite.h), and a word without one leaves no worker.
class ReasonCode {
 public:
  /// Implicit: a Reason is one.
  ReasonCode(Reason reason = Reason::kNone) : text_(assay::ToString(reason)) {}
  explicit ReasonCode(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool operator==(const ReasonCode& other) const = default;

 private:
  std::string text_;  // empty: none
};

inline std::string_view ToString(const ReasonCode& reason) {
  return reason.text();
}
inline std::ostream& operator<<(std::ostream& out, const ReasonCode& reason) {
  return out << reason.text();
}

/// The word for a case that is unsupported by the oracle, not by the backend:
/// nobody says that its outputs are right, nor that they are wrong.
inline constexpr std::string_view kUndecided = "undecided";

/// A word of the column reason_code, and what it says.
struct ReasonMeaning {
  std::string code;
  std::string meaning;  // a sentence without its full stop
};

/// Those of core, then those that were added.
const std::vector<ReasonMeaning>& ReasonMeanings();

/// Always true, so that a static initialiser can call it.
bool AddReason(ReasonMeaning reason);

/// Empty for a word that nobody registered.
std::string_view MeaningOf(std::string_view code);

}  // namespace assay::record

// SPDX-License-Identifier: Apache-2.0
//
// Stability: the judgement on a case that was repeated.
//
// A case that did not pass is run again alone, in a worker of its own. Where it
// then passes, or did crash and alone does not, the cases before it are brought
// back, fewer and fewer, until the one that spoils it is found. The attempts
// are rows of the table `attempts`, and a merge reads the same meaning off
// them.

#pragma once

#include <span>
#include <string>

#include "framework/testing/record/outcome.h"
#include "framework/testing/record/rows.h"

namespace assay::verdict {

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

/// `repeats` are the attempts after a first one that did not pass: alone where
/// `after` is empty, else in one worker behind the cases that it names. The
/// result points into them.
Stability StabilityOf(record::Outcome first,
                      std::span<const record::ResultRow> repeats);

}  // namespace assay::verdict

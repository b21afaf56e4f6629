// SPDX-License-Identifier: Apache-2.0
//
// The word of an oracle: which side of a fail is further from the exact values,
// the backend or the expected data, and when the oracle cannot tell.
//
// A record holds the word's numbers in rows whose reference is "oracle" (the
// backend's distance) and "expected_oracle" (that of the expected data).

#pragma once

#include <span>
#include <string>

#include "framework/testing/record/rows.h"

namespace assay::verdict {

/// The distance of a row to its oracle, in ULP; infinite where NaN or infinity
/// stand on one side only.
double ExactDistance(const record::AccuracyRow& row);

/// True when the distance proves nothing: it lies within the oracle's bound,
/// which is too wide to tell what is rounded correctly.
bool IsUndecided(const record::AccuracyRow& row);

/// "by the oracle the expected data are the worse side: ...", "by the oracle
/// the backend is the worse side: ...", or that the oracle is undecided; empty
/// without an oracle's rows. Among several outputs it speaks of the one whose
/// two sides differ most.
std::string OracleWord(std::span<const record::AccuracyRow> rows);

}  // namespace assay::verdict

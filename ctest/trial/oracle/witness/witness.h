// SPDX-License-Identifier: Apache-2.0
//
// An independent witness, mpmath in Python (generate.py), gives the outputs,
// gradients and tangents of a model to twice the digits of double. An oracle is
// asked the same, in every precision, and each of its numbers must lie within
// its own bound of the witness'.
//
//   ASSAY_ASSIGN_OR_RETURN(const auto cases, ParseWitness(text));
//   Tally tally;
//   for (const WitnessCase& one : cases) Ask(one, backend, &tally);
//   std::cout << TableOf(tally);

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ctest/trial/oracle/witness/witness_case.h"
#include "framework/backend/backend.h"

namespace assay::witness {

/// Questions of an oracle, and what became of them.
enum class Question : uint8_t {
  kValue,
  kGradient,
  kTangent,
  kUnits,    // at least the condition number
  kReferee,  // of cotangents times Jacobian times tangents
};
inline constexpr int kQuestions = 5;
inline constexpr int kPrecisions = 3;

struct Tally {
  struct Count {
    int64_t numbers = 0;
    int64_t outside = 0;  // further off than the bound says
    int64_t unknown = 0;  // the bound is infinite
  };
  int cases = 0;
  int declined = 0;
  /// By question and Precision; units and referee have one precision.
  std::array<std::array<Count, kPrecisions>, kQuestions> counts{};
  int64_t expected = 0;   // output elements, rounded once to their type
  int64_t half_unit = 0;  // further than half a unit and the bound from those
  /// Output elements whose condition number is at most kWell, and those among
  /// them whose bound is above half a unit.
  int64_t well = 0;
  int64_t useless = 0;
  /// A line for each case with numbers outside, and for each declined one.
  std::vector<std::string> faults;
  /// A line for each well-conditioned output of which too little is known.
  std::vector<std::string> notes;
};

/// Outputs of at most this condition number relative to their size count as
/// well-conditioned; of 0, which is that of a step, they do not.
inline constexpr double kWell = 1e3;

/// Asks a backend that offers Exact, and counts.
void Ask(const WitnessCase& asked, Backend& backend, Tally* tally);

/// The counts, as a table in Markdown.
std::string TableOf(const Tally& tally);

/// The share of well-conditioned outputs about which nothing useful is known.
double UselessShare(const Tally& tally);

/// True when no number is outside and none over half a unit.
bool IsRight(const Tally& tally);

}  // namespace assay::witness

// SPDX-License-Identifier: Apache-2.0
//
// HarnessMutant: a small change of the text of one of our own sources, after
// which some test of ours must fail. The list is data, harness.txt:
//
//     mutant shape_unchecked of form in framework/testing/measure/compare.cc
//     killed by unit/measure because "outputs of any shape are compared"
//     - got.dtype() != want.dtype() || got.shape() != want.shape()
//     + got.dtype() != want.dtype()
//
// The text behind - must occur once, blanks and line breaks apart; further
// lines with - or + go on with it. The killer is unit/NAME, whose program then
// has the changed source in it, or program, which is the test of the assay
// program run on one that has it; ":FILTER", as GoogleTest's, may follow. The
// killer nobody stands for a change that no test can see (random/).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctest/trial/mutants/functions.h"
#include "framework/core/status.h"

namespace assay::harness_mutants {

struct HarnessMutant {
  std::string name;
  std::string mutant_class;
  std::string file;    // from the root of the tree
  std::string killer;  // unit/NAME, program or nobody
  std::string filter;  // of the killer's tests; empty: all
  std::string because;
  std::string find;
  std::string replacement;
};

/// Invalid argument with the line number. Names are unique.
Result<std::vector<HarnessMutant>> ParseHarnessMutants(std::string_view text);

/// Where the text that is changed stands. Invalid argument, naming the mutant
/// and the count, unless it is there exactly once.
Result<Range> PlaceOf(const HarnessMutant& mutant, std::string_view source);

/// The source with the change in it; fails as PlaceOf.
Result<std::string> Mutated(const HarnessMutant& mutant,
                            std::string_view source);

}  // namespace assay::harness_mutants

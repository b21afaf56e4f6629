// SPDX-License-Identifier: Apache-2.0
//
// A mutant schema: one source that has many mutants in it, so that they are
// compiled once (R. Untch, A. J. Offutt and M. J. Harrold, "Mutation analysis
// using mutant schemata", ISSTA 1993). The body of a function that a mutant
// changes is there twice, and is_on.h says which is run:
//
//     int Half(int n) {
//       if (IsOn("half_is_more")) { return n / 2 + 1; } else { return n / 2; }
//     }
//
//   ASSAY_ASSIGN_OR_RETURN(std::string source, SchemaOf(mutants, right));

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ctest/trial/mutants/harness_mutant.h"
#include "framework/core/status.h"

namespace assay::harness_mutants {

/// The source with all of these mutants of it. Without one on, it is as it was.
/// Invalid argument, naming the mutant, where its text is not there exactly
/// once, or is not within the body of one function.
Result<std::string> SchemaOf(std::span<const HarnessMutant> mutants,
                             std::string_view source);

}  // namespace assay::harness_mutants

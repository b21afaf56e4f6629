// SPDX-License-Identifier: Apache-2.0
//
// IsOn: whether a program of mutants runs with this one. Each stands in it
// beside the right code (harness_mutant.py); the variable ASSAY_MUTANT says
// which is taken, none where it is not set.
//
//   if (assay::harness_mutants::IsOn("nan_equals_all")) return 1;

#pragma once

#include <cstdlib>
#include <string_view>

namespace assay::harness_mutants {

inline bool IsOn(std::string_view mutant) {
  static const char* const on = std::getenv("ASSAY_MUTANT");
  return on != nullptr && on == mutant;
}

}  // namespace assay::harness_mutants

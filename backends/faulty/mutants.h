// SPDX-License-Identifier: Apache-2.0
//
// The ways in which the backend `faulty` is wrong. A mutant is a row: a name, a
// class of defect, and what it makes of a right output. A harness that lets one
// pass does not look where it says it does.
//
//   const Mutant* mutant = FindMutant("nan");
//   ASSAY_ASSIGN_OR_RETURN(Value wrong, mutant->corrupt(right, previous));
//
// To add one, write its function and its row in mutants.cc.

#ifndef ASSAY_BACKENDS_FAULTY_MUTANTS_H_
#define ASSAY_BACKENDS_FAULTY_MUTANTS_H_

#include <span>
#include <string_view>

#include "framework/core/value.h"

namespace assay::faulty {

struct Mutant {
  std::string_view name;
  /// What kind of defect it stands for.
  std::string_view defect;
  /// The wrong output in place of the right one. `previous` is what the output
  /// of the same position was in the network before, or absent. Memory of
  /// `right` is not changed.
  Result<Value> (*corrupt)(const Value& right, const Value& previous);
};

std::span<const Mutant> Mutants();

/// The mutant of that name; null when there is none.
const Mutant* FindMutant(std::string_view name);

}  // namespace assay::faulty

#endif  // ASSAY_BACKENDS_FAULTY_MUTANTS_H_

// SPDX-License-Identifier: Apache-2.0
//
// The ways in which the backend `faulty` is wrong. A mutant is a row: a name, a
// class of defect, and what it makes of right outputs, of inputs or of seeds. A
// harness that lets one pass does not look where it says it does.
//
//   const Mutant* mutant = FindMutant("nan");
//   ASSAY_ASSIGN_OR_RETURN(Value wrong, mutant->corrupt(right, previous));
//
// Those of random operators leave every single draw plausible: only their law
// is another. Models without random operators they leave right.
//
// To add one, write its function and its row in mutants.cc.

#ifndef ASSAY_BACKENDS_FAULTY_MUTANTS_H_
#define ASSAY_BACKENDS_FAULTY_MUTANTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/backend/eager.h"
#include "framework/core/value.h"

namespace assay::faulty {

/// What becomes of the seeds of operators that draw.
enum class SeedFault : uint8_t {
  kNone,
  kConstant,  // all have the same
  kIgnored,   // none has one
};

/// The output as it is, and the inputs as they are.
Result<Value> CorruptNothing(const Value& right, const Value& previous);
Result<std::vector<Value>> FeedAsIs(const Graph& graph,
                                    std::span<const Value> inputs);

struct Mutant {
  std::string_view name;
  /// What kind of defect it stands for.
  std::string_view defect;
  /// The wrong output in place of the right one. `previous` is what the output
  /// of the same position was in the network before, or absent. Memory of
  /// `right` is not changed.
  Result<Value> (*corrupt)(const Value& right,
                           const Value& previous) = CorruptNothing;
  /// The inputs that a network of this graph runs on in place of those bound.
  Result<std::vector<Value>> (*feed)(const Graph& graph,
                                     std::span<const Value> inputs) = FeedAsIs;
  SeedFault seeds = SeedFault::kNone;
};

std::span<const Mutant> Mutants();

/// The mutant of that name; null when there is none.
const Mutant* FindMutant(std::string_view name);

/// The operators that draw, with the seeds that the setting `mutant` of the
/// Load at hand says; to be asked before the reference's families.
std::unique_ptr<OperatorVisitor> SeedFamily();

}  // namespace assay::faulty

#endif  // ASSAY_BACKENDS_FAULTY_MUTANTS_H_

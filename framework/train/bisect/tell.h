// SPDX-License-Identifier: Apache-2.0
//
// Tells a person of two runs in step: a line now and then, and the result.
//
//   std::cout << StepText(step, steps, *duel);
//   std::cout << EndText(steps, *duel);
//   return IsSame(*duel) ? 0 : 1;

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/train/bisect/duel.h"

namespace assay::bisect {

/// The losses, at the first steps and at each tenth of the run; empty at
/// others.
std::string StepText(int64_t step, int64_t steps, const Duel& duel);

/// The first faults and the first difference in so many steps.
std::string EndText(int64_t steps, const Duel& duel);

/// True where there are none.
bool IsSame(const Duel& duel);

/// Writes the rows of optimizer_steps.csv; writes nothing for an empty name.
Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record);

}  // namespace assay::bisect

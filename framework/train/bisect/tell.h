// SPDX-License-Identifier: Apache-2.0
//
// Two runs in step, as a person reads them: a line now and then, and what came
// of them.
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

/// The rows of optimizer_steps.csv; nothing for an empty name.
Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record);

}  // namespace assay::bisect

// SPDX-License-Identifier: Apache-2.0
//
// Told: two runs in step, for a person: a line now and then, and what came of them.
//
//   Told told;
//   told.Step(step, steps, *duel);
//   const bool is_same = told.End(*duel);

#pragma once

#include <cstdint>
#include <filesystem>

#include "framework/core/status.h"
#include "framework/testing/record/record.h"
#include "framework/train/bisect/duel.h"

namespace assay::bisect {

class Told {
 public:
  /// Losses of the first steps and of each tenth of the run.
  void Step(int64_t step, int64_t steps, const Duel& duel);
  /// The first differences. True where there were none.
  bool End(const Duel& duel) const;

 private:
  int64_t steps_ = 0;
};

/// The rows of optimizer_steps.csv; nothing for an empty name.
Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record);

}  // namespace assay::bisect

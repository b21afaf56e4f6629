// SPDX-License-Identifier: Apache-2.0
//
// Told: prints two runs in step for a person: a line now and then, and the
// result.
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
  /// Prints the losses of the first steps and of each tenth of the run.
  void Step(int64_t step, int64_t steps, const Duel& duel);
  /// Prints the first faults and the first difference. True when there were
  /// none.
  bool End(const Duel& duel) const;

 private:
  int64_t steps_ = 0;
};

/// Writes the rows of optimizer_steps.csv; writes nothing for an empty name.
Status WriteTable(const std::filesystem::path& file,
                  const record::Record& record);

}  // namespace assay::bisect

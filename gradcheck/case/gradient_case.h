// SPDX-License-Identifier: Apache-2.0
//
// GradientCase: a planned case of the suite as its code takes it. The suite makes
// it of the plan's row where it is called (suite.cc), and hands it down; nothing
// else reads a test_id.
//
//   ASSAY_ASSIGN_OR_RETURN(const GradientCase c, CaseOf(row, facts));
//   c.variant.type;                    // DType::kFloat64
//   Draw draw = c.Drawn("tangents");   // of the test_id and the run's seed

#pragma once

#include <cstdint>
#include <string_view>

#include "framework/core/status.h"
#include "framework/testing/record/rows.h"
#include "framework/testing/record/run_facts.h"
#include "gradcheck/case/variant.h"
#include "gradcheck/draw/draw.h"

namespace assay::gradcheck {

struct GradientCase {
  record::PlanRow row;
  int64_t seed = 0;
  Variant variant;

  Draw Drawn(std::string_view purpose) const {
    return {row.test_id, seed, purpose};
  }
};

/// Unsupported, reason reader, for a test_id without a variant.
Result<GradientCase> CaseOf(const record::PlanRow& row,
                            const record::RunFacts& facts);

}  // namespace assay::gradcheck

// SPDX-License-Identifier: Apache-2.0

#include "gradcheck/case/gradient_case.h"

namespace assay::gradcheck {

Result<GradientCase> CaseOf(const record::PlanRow& row,
                            const record::RunFacts& facts) {
  const auto variant = VariantOf(row.test_id);
  if (!variant.has_value()) {
    return Unsupported(Reason::kReader, row.test_id,
                       " does not end in #class.type");
  }
  return GradientCase{row, facts.seed, *variant};
}

}  // namespace assay::gradcheck

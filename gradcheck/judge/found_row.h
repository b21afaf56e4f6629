// SPDX-License-Identifier: Apache-2.0
//
// AddFound: what a comparison found, in the columns of gradients.csv.
//
//   GradientRow row;
//   AddFound(Compare(*gradient.tensor(), answer, options), &row);

#pragma once

#include "gradcheck/judge/gradient_row.h"
#include "gradcheck/run/compare.h"

namespace assay::gradcheck {

void AddFound(const Compared& found, GradientRow* row);

}  // namespace assay::gradcheck

// SPDX-License-Identifier: Apache-2.0
//
// The id of a case, which stays the same for ever.
//
//   if (!IsTestId("node/Conv/test_conv#random")) return DataLoss(...);

#pragma once

#include <string_view>

namespace assay::cases {

/// `suite/op/case[#variant]` in the characters that ids may have.
bool IsTestId(std::string_view text);

/// The case whose operator was replaced by its function body in this one, x of
/// "x_expanded"; of any other, itself.
std::string_view CaseOfTwin(std::string_view test_id);

}  // namespace assay::cases

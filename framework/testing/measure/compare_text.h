// SPDX-License-Identifier: Apache-2.0
//
// Elements as text, for the messages about differences.
//
//   entry.worst_got = ElementText(got, index);

#pragma once

#include <cstdint>
#include <string>

#include "framework/core/tensor.h"

namespace assay::measure {

/// An element as text: the shortest decimal that reads back as the same
/// number (as float32 for narrower floats), "nan", "inf", "-inf", "true",
/// "1+2j", or the first 40 characters of a string.
std::string ElementText(const Tensor& tensor, int64_t index);

}  // namespace assay::measure

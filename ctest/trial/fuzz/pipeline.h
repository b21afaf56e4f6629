// SPDX-License-Identifier: Apache-2.0
//
// The steps of loading before a backend sees a model: parse, inline, infer,
// upgrade, type, expand.
//
//   EXPECT_TRUE(TakeThrough(bytes).ok() || ...);

#pragma once

#include <cstddef>
#include <span>

#include "framework/core/status.h"

namespace assay::fuzz {

/// Never throws, whatever the bytes are.
Status TakeThrough(std::span<const std::byte> bytes);

}  // namespace assay::fuzz

// SPDX-License-Identifier: Apache-2.0
//
// The steps of loading before a backend sees a model: parse, inline, infer,
// upgrade, type, expand.
//
//   EXPECT_TRUE(TakeThrough(bytes).ok() || ...);

#ifndef ASSAY_CONFORMANCE_FUZZ_PIPELINE_H_
#define ASSAY_CONFORMANCE_FUZZ_PIPELINE_H_

#include <cstddef>
#include <span>

#include "framework/core/status.h"

namespace assay::fuzz {

/// Never throws, whatever the bytes are.
Status TakeThrough(std::span<const std::byte> bytes);

}  // namespace assay::fuzz

#endif  // ASSAY_CONFORMANCE_FUZZ_PIPELINE_H_

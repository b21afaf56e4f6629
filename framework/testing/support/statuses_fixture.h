// SPDX-License-Identifier: Apache-2.0
//
// Matchers of several statuses.
//
//   EXPECT_THAT(RunThreads(ranks, rank), kAllWell);

#pragma once

#include <gmock/gmock.h>

#include "framework/core/status.h"

namespace assay {

inline const auto kAllWell =
    ::testing::Each(::testing::Property(&Status::ok, true));

}  // namespace assay

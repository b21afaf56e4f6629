// SPDX-License-Identifier: Apache-2.0
//
// The table of overheads for a terminal, and how its rows stand to limits.
//
//   std::cout << overhead::TextOf(rows) << overhead::StandingOf(rows, {});

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "framework/testing/times/row.h"

namespace assay::overhead {

/// Limits of a bound call over the native one.
struct Limits {
  double most_ns = 50;
  int64_t most_instructions = 200;
  /// The upper end of the ratio's interval lies below, where a native call
  /// takes so long at least.
  double ratio_below = 1.005;
  double ratio_from_ns = 10'000;
};

/// The test_ids of epochs begin so: they are of many calls, and limits do not
/// count for them.
inline constexpr const char* kEpoch = "overhead/epoch/";

/// A line a row, with intervals of 95 %, behind a line of headings.
std::string TextOf(std::span<const times::OverheadRow> rows);

/// The bound calls that take more instructions over the native call than that.
int64_t CountBeyond(std::span<const times::OverheadRow> rows,
                    int64_t most_instructions);

/// A line a limit: of how many rows about which it is measured it holds, and
/// below it those of which it does not. A limit about no row has no line.
std::string StandingOf(std::span<const times::OverheadRow> rows,
                       const Limits& limits);

}  // namespace assay::overhead

// SPDX-License-Identifier: Apache-2.0
//
// WaitReport: finds who waits for whom from the calls that ranks are in.
//
//   const WaitReport report = ReportOf(table.ReadAll());
//   report.text;  // "rank 0 in receive 4 bytes from rank 1 (call 7); rank 1
//                 // in receive 4 bytes from rank 0 (call 7); rank 0 waits
//                 // for rank 1, which waits for rank 0"

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/ranks/wait/call_table.h"

namespace assay::ranks {

struct WaitReport {
  /// The calls of 16 ranks at most, then the chain.
  std::string text;
  /// Ranks, each of which waits for the next one. Empty: no rank waits for
  /// another.
  std::vector<int> chain;
  /// True where the last rank of the chain waits for the first. Else the last
  /// one has ended, is in no call, is unknown or waits for nobody.
  bool is_cycle = false;
};

/// `ranks` has the states by rank. A call waits for:
///
///   exchange               the rank it receives from, else the one it sends to
///   receive from anybody   any other rank of its group
///   every other call       each rank of its group that has not come to it
///
/// A chain of ranks that can never go on is preferred to one whose ranks still
/// may. With `now_us`, on the clock of the notes, calls have their age in
/// seconds.
WaitReport ReportOf(std::span<const RankState> ranks,
                    std::optional<int64_t> now_us = std::nullopt);

bool IsAnyInCall(std::span<const RankState> ranks);

/// The text of the last run in the table of a shared folder (kCallsFile), also
/// where all ranks are between two runs; empty where there is no table.
std::string ReportIn(const std::filesystem::path& folder, int64_t now_us);

}  // namespace assay::ranks

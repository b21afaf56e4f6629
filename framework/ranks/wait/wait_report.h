// SPDX-License-Identifier: Apache-2.0
//
// WaitReport: who waits for whom, out of the calls that ranks are in.
//
//   const WaitReport report = ReportOf(table.ReadAll());
//   report.text;  // "rank 0 in receive 4 bytes from rank 1 (call 7); rank 1 in receive 4
//                 // bytes from rank 0 (call 7); rank 0 waits for rank 1, which waits for
//                 // rank 0"

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
  /// Each rank's call, 16 ranks at most, and the chain.
  std::string text;
  /// Ranks, each of which waits for the next one. Empty: nobody waits for a rank.
  std::vector<int> chain;
  /// The last one waits for the first. Else the last one has ended, is in no call, is
  /// unknown or waits for nobody.
  bool is_cycle = false;
};

/// Of states by their ranks. A rank in a collective waits for those that have not come to
/// it; one that receives from anybody for all of its group, any of which would do; one that
/// sends and receives for whom it receives from. Ranks that wait for ranks which cannot go
/// on are named before those whose others may still come. With `now_us`, by the clock of
/// the notes, calls have their age.
WaitReport ReportOf(std::span<const RankState> ranks,
                    std::optional<int64_t> now_us = std::nullopt);

/// True where a rank is in a call.
bool IsAnyInCall(std::span<const RankState> ranks);

/// The text of the last run in a folder that ranks have in common (kCallsFile); empty where no
/// rank is in a call.
std::string ReportIn(const std::filesystem::path& folder, int64_t now_us);

}  // namespace assay::ranks

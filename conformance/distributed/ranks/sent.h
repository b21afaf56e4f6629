// SPDX-License-Identifier: Apache-2.0
//
// The traffic of ranks in their parts of a case: as they ask their library for it, as the
// library counts it by itself, and as the formulas say. All three are the same. With it goes
// the time that a library simulates.
//
//   ASSAY_ASSIGN_OR_RETURN(const LibraryCount before, CountOf(mine));
//   ASSAY_RETURN_IF_ERROR(mine.Exchange(1, {}, kNobody, {}));
//   ASSAY_ASSIGN_OR_RETURN(const RankSent sent,
//                          SentSince(before, mine, /*asked=*/{0, 1}));

#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/backend/communicator.h"
#include "framework/core/status.h"
#include "framework/testing/measure/measure.h"

namespace assay::distributed {

/// What a library counts by itself. Null where it does not.
struct LibraryCount {
  std::optional<Counted> sent;
  std::optional<double> simulated_s;
};

/// As Endpoint::counted, but that it may be missing, and Endpoint::simulated_seconds.
Result<LibraryCount> CountOf(const Endpoint& mine);

/// A rank's part of a case on the simulated clock that all ranks have.
struct SimulatedPart {
  double began_s = 0, ended_s = 0;
  bool is_simulated = false;  // the library has such a clock
};

/// One rank's traffic.
struct RankSent {
  Traffic asked;
  Counted counted;          // by the library
  bool is_counted = false;  // the library has a count
  SimulatedPart simulated = {};
};

constexpr void EachField(RankSent& sent, const auto& visit) {
  visit(sent.asked.bytes);
  visit(sent.asked.messages);
  visit(sent.counted.sent.bytes);
  visit(sent.counted.sent.messages);
  visit(sent.counted.collectives);
  visit(sent.counted.collective_bytes);
  visit(sent.is_counted);
  visit(sent.simulated.began_s);
  visit(sent.simulated.ended_s);
  visit(sent.simulated.is_simulated);
}

/// Between a count and now.
Result<RankSent> SentSince(const LibraryCount& since, const Endpoint& mine,
                           const Traffic& asked);

/// Adds what all ranks asked for to the row. Null where it is what the formulas say, and
/// where each rank's library, if it counts, has the same messages and no collective;
/// messages are not held to a formula where none tells them.
std::optional<measure::Judgement> JudgeTraffic(
    std::span<const RankSent> ranks, int64_t bytes,
    const std::optional<int64_t>& messages, DistributedRow* row);

/// Adds what the libraries counted to the row, where all ranks' messages are among it.
void AddCounted(std::span<const RankSent> ranks, DistributedRow* row);

/// Adds the simulated time to the row, where all ranks have it: from the last one that
/// begins to the last one that ends, as formulas count that let ranks begin together.
void AddSimulated(std::span<const RankSent> ranks, DistributedRow* row);

}  // namespace assay::distributed

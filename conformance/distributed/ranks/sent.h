// SPDX-License-Identifier: Apache-2.0
//
// The traffic of ranks in a case: as they ask their library for it, as the
// library counts it, and by formula. All three must agree. The time that a
// library simulates goes with it.
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

/// A library's own counts; nothing where it has none.
struct LibraryCount {
  std::optional<Counted> sent;
  std::optional<double> simulated_s;
};

/// Reads Endpoint::counted, which a library may lack, and
/// Endpoint::simulated_seconds.
Result<LibraryCount> CountOf(const Endpoint& mine);

/// A rank's part of a case on the simulated clock that all ranks share.
struct SimulatedPart {
  double began_s = 0, ended_s = 0;
  bool is_simulated = false;  // the library has a clock
};

/// The traffic of one rank.
struct RankSent {
  Traffic asked;
  Counted counted;          // by the library's count
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

/// The traffic and time between a count and now.
Result<RankSent> SentSince(const LibraryCount& since, const Endpoint& mine,
                           const Traffic& asked);

/// Adds the traffic that all ranks asked for to the row. Null where it is
/// `bytes` and `messages`, if these are given, and where each library that
/// counts has counted the same messages and no collective.
std::optional<measure::Judgement> JudgeTraffic(
    std::span<const RankSent> ranks, int64_t bytes,
    const std::optional<int64_t>& messages, DistributedRow* row);

/// Adds the libraries' own counts to the row, where they include all messages.
void AddCounted(std::span<const RankSent> ranks, DistributedRow* row);

/// Adds the simulated time to the row, where all ranks have it: from the last
/// rank that begins to the last that ends, since formulas let ranks begin
/// together.
void AddSimulated(std::span<const RankSent> ranks, DistributedRow* row);

}  // namespace assay::distributed

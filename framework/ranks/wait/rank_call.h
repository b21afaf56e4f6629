// SPDX-License-Identifier: Apache-2.0
//
// RankCall: describes a call of a rank to others.
//
//   const RankCall call =
//       ExchangeOf(/*to=*/1, /*out=*/4, /*from=*/kNobody, /*in=*/0);
//   TextOf(call);  // "send 4 bytes to rank 1"

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "framework/backend/communicator.h"
#include "framework/core/dtype.h"

namespace assay::ranks {

enum class CallKind : uint8_t {
  kExchange,
  kReceiveAny,
  kCollective,
  kWait,  // for a collective that Start began
  kSplit,
  kConnect,    // to neighbours
  kNeighbors,  // a neighbour collective
};

/// The number of the communicator of all ranks.
inline constexpr uint64_t kAllRanks = 0;

/// Ranks are numbered as in `group`.
struct RankCall {
  CallKind kind = CallKind::kExchange;
  // For kCollective and kWait.
  Operation operation = Operation::kBarrier;
  Reduction reduction = Reduction::kSum;
  DType type = DType::kUndefined;
  int32_t root = 0;
  int64_t count = 0;
  // For kExchange and kReceiveAny.
  int32_t to = kNobody, from = kNobody;
  int64_t out = 0, in = 0;  // bytes
  uint64_t group = kAllRanks;
  /// The number of a collective in its group, from 1. Splits, connections and
  /// neighbour collectives count as well.
  int64_t collective = 0;
};

constexpr void EachField(RankCall& call, const auto& visit) {
  visit(call.kind);
  visit(call.operation);
  visit(call.reduction);
  visit(call.type);
  visit(call.root);
  visit(call.count);
  visit(call.to);
  visit(call.from);
  visit(call.out);
  visit(call.in);
  visit(call.group);
  visit(call.collective);
}

RankCall ExchangeOf(int to, size_t out, int from, size_t in);
RankCall ReceiveAnyOf(size_t in);
/// `kind` is kCollective or kWait.
RankCall CollectiveOf(CallKind kind, const CollectiveCall& call);

/// For a kind without arguments: "split", "connect with neighbors".
std::string TextOf(CallKind kind);
/// "allreduce of 3 float32 by sum", "broadcast of 1 int64 at the root 2".
std::string TextOf(const CollectiveCall& call);
/// "send 4 bytes to rank 1 and receive 8 bytes from rank 2", "wait for barrier
/// in a part of the ranks".
std::string TextOf(const RankCall& call);

}  // namespace assay::ranks

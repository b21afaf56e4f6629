// SPDX-License-Identifier: Apache-2.0
//
// RankCall, which describes a call of a rank to others, and CallTable, which
// has a row for each rank, in which it writes the call that it is in. The table
// lies in the memory of one process, or in a file that several processes map.
// NotedEndpoint writes into it which call the rank is in, and since when.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/dtype.h"
#include "framework/core/status.h"
#include "framework/ranks/fields.h"
#include "framework/ranks/interception.h"

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
  VisitEach(visit, call.kind, call.operation, call.reduction, call.type,
            call.root, call.count, call.to, call.from, call.out, call.in,
            call.group, call.collective);
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

enum class Whereabouts : uint8_t {
  kUnknown,  // nothing was written
  kBetweenCalls,
  kInCall,  // or the call failed
  kEnded,
};

/// A communicator that a rank belongs to, its rank there, and how many
/// collectives it has come to.
struct GroupPlace {
  uint64_t group = kAllRanks;
  int64_t rank = kNobody;  // kNobody: an unused entry
  int64_t collectives = 0;
};

/// A row, whose fields are written one by one (fields.h): its writer and its
/// readers may be processes.
struct RankState {
  int64_t run = 0;  // number of the run; 0: none
  int64_t ranks = 0;
  Whereabouts where = Whereabouts::kUnknown;
  int64_t number = 0;    // number of the rank's call, from 1
  int64_t since_us = 0;  // start of the call, steady clock
  RankCall call;
  // The communicator of all ranks, and the last ones that Split gave.
  std::array<GroupPlace, 8> groups;
};

constexpr void EachField(RankState& state, const auto& visit) {
  VisitEach(visit, state.run, state.ranks, state.where, state.number,
            state.since_us);
  EachField(state.call, visit);
  for (GroupPlace& place : state.groups) {
    VisitEach(visit, place.group, place.rank, place.collectives);
  }
}

/// False for a state that no rank writes: enumerators and ranks out of range.
bool CanBe(const RankState& state);

/// The file name in a folder that all ranks share.
inline constexpr char kCallsFile[] = "rank_calls";

/// One rank writes a row; any thread or process may read meanwhile.
class CallTable {
 public:
  static CallTable InMemory(int ranks);
  /// Maps a file, which is made where there is none and else keeps its content.
  /// Internal where the system refuses.
  static Result<CallTable> InFile(const std::filesystem::path& file, int ranks);

  int ranks() const { return ranks_; }
  /// `rank` is from 0 to below ranks().
  void Write(int rank, const RankState& state);
  /// The last state; kUnknown where the writer does not finish.
  RankState Read(int rank) const;
  std::vector<RankState> ReadAll() const;

 private:
  struct Row;

  CallTable(std::shared_ptr<Row> rows, int ranks)
      : rows_(std::move(rows)), ranks_(ranks) {}
  static RankState StateOf(const Row& row);

  friend std::vector<RankState> ReadCalls(const std::filesystem::path& file);

  std::shared_ptr<Row> rows_;
  int ranks_;
};

/// The rows of a table's file as far as they can be valid: its writer may be at
/// fault. Empty where there is no such file.
std::vector<RankState> ReadCalls(const std::filesystem::path& file);

/// The first rows, as many as the last run has ranks. A rank that has not begun
/// that run has its earlier state. Empty where there is no run.
std::vector<RankState> StatesOfLastRun(std::span<const RankState> all);

/// Microseconds since any epoch that all ranks of a table share. Null: calls
/// have no start.
using MicrosecondClock = std::function<int64_t()>;

/// A rank's row of a table, which must outlive this. For one thread at a time.
class RankNote {
 public:
  RankNote(CallTable* table, int rank, int64_t run, MicrosecondClock clock);

  /// Runs `make`, and writes that the rank is in `call` until it returns. A
  /// call that failed stays in the row, so that a report can name it.
  Status During(const RankCall& call, const std::function<Status()>& make);
  /// Counts one more collective or split of the group, and returns its number.
  int64_t NextCollective(uint64_t group);
  /// Adds a communicator that Split gave.
  void Join(uint64_t group, int rank);
  void End();

 private:
  CallTable& table_;
  const int rank_;
  const MicrosecondClock clock_;
  RankState state_;
  size_t joined_ = 0;
};

class NotedEndpoint final : public ForwardingEndpoint {
 public:
  /// The communicator of all ranks in run number `run`. Table and `inner` must
  /// outlive this.
  NotedEndpoint(Endpoint& inner, CallTable* table, int64_t run = 1,
                MicrosecondClock clock = nullptr)
      : NotedEndpoint(inner, nullptr,
                      std::make_shared<RankNote>(table, inner.rank(), run,
                                                 std::move(clock)),
                      kAllRanks) {}

  /// The rank has ended without an error.
  void End() { note_->End(); }

  Status Exchange(int to, std::span<const std::byte> out, int from,
                  std::span<std::byte> in) override;
  Result<int> ReceiveAny(std::span<std::byte> in) override;
  Status Collect(const CollectiveCall& call) override;
  Result<std::unique_ptr<Pending>> Start(const CollectiveCall& call) override;
  Result<std::unique_ptr<Endpoint>> Split(int color, int key) override;
  Result<std::unique_ptr<Neighbors>> Connect(
      std::span<const int> to, std::span<const int> from) override;

 private:
  NotedEndpoint(Endpoint& inner, std::unique_ptr<Endpoint> own,
                std::shared_ptr<RankNote> note, uint64_t group)
      : ForwardingEndpoint(inner),
        own_(std::move(own)),
        note_(std::move(note)),
        group_(group) {}

  Status Note(RankCall call, const std::function<Status()>& make) const;

  const std::unique_ptr<Endpoint> own_;  // the communicator that Split gave
  const std::shared_ptr<RankNote> note_;
  const uint64_t group_;
};

}  // namespace assay::ranks

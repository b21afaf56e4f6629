// SPDX-License-Identifier: Apache-2.0
//
// CallTable: a row for each rank, in which it writes the call that it is in. It
// lies in the memory of one process, or in a file that several processes map.
//
//   CallTable table = CallTable::InMemory(/*ranks=*/4);
//   table.Write(/*rank=*/1,
//               {.run = 1, .ranks = 4, .where = Whereabouts::kEnded});
//   const std::vector<RankState> states = table.ReadAll();

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/core/status.h"
#include "framework/ranks/wait/rank_call.h"

namespace assay::ranks {

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
  visit(state.run);
  visit(state.ranks);
  visit(state.where);
  visit(state.number);
  visit(state.since_us);
  EachField(state.call, visit);
  for (GroupPlace& place : state.groups) {
    visit(place.group);
    visit(place.rank);
    visit(place.collectives);
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

}  // namespace assay::ranks

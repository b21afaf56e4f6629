// SPDX-License-Identifier: Apache-2.0
//
// CallTable: where each rank writes which call it is in, for all to read: in the memory of
// one process, or in a file that several have.
//
//   CallTable table = CallTable::InMemory(/*ranks=*/4);
//   table.Write(/*rank=*/1, {.run = 1, .ranks = 4, .where = Whereabouts::kEnded});
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
  kUnknown,  // it has written nothing
  kBetweenCalls,
  kInCall,  // or it failed
  kEnded,
};

/// A rank's place in a group, and how many collectives of it the rank has come to.
struct GroupPlace {
  uint64_t group = kAllRanks;
  int64_t rank = kNobody;  // nobody: an empty place
  int64_t collectives = 0;
};

/// As a rank writes it. All of it is copied as bytes.
struct RankState {
  int64_t run = 0;  // of the ranks; 0: none
  int64_t ranks = 0;
  Whereabouts where = Whereabouts::kUnknown;
  int64_t number = 0;    // of its call, from 1
  int64_t since_us = 0;  // when the call began, by the steady clock
  RankCall call;
  // The group of all ranks, and the last ones that it has split off.
  std::array<GroupPlace, 8> groups;
};

/// False of bytes that no rank writes: names are found by their numbers.
bool CanBe(const RankState& state);

/// The file of a folder that ranks have in common.
inline constexpr char kCallsFile[] = "rank_calls";

/// Each row has one rank that writes it; any thread or process may read meanwhile.
class CallTable {
 public:
  static CallTable InMemory(int ranks);
  /// Makes the file where there is none. What is in it stays. Internal where the system
  /// makes none.
  static Result<CallTable> InFile(const std::filesystem::path& file, int ranks);

  int ranks() const { return ranks_; }
  /// Of a rank that the table has.
  void Write(int rank, const RankState& state);
  /// The last state; unknown where the rank does not come to the end of writing it.
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

/// What a table's file has, as far as it can be that of one: whoever writes it may be at
/// fault. Empty where there is none.
std::vector<RankState> ReadCalls(const std::filesystem::path& file);

/// The first ones, of as many ranks as the last run has. A rank that has not come to it
/// stands where it is. Empty where there is no run.
std::vector<RankState> StatesOfLastRun(std::span<const RankState> all);

}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0
//
// Board: what all ranks of a program that is checked write down: the collectives of each
// group by their numbers, what was begun, and what was found to be wrong.
//
//   Board board(/*ranks=*/4);
//   board.Find(Finding::kLeak, "rank 1 did not wait for allreduce");

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/core/status.h"

namespace assay::ranks {

/// The classes of M. Laurent, E. Saillard, M. Quinson, "The MPI Bugs Initiative: a framework
/// for MPI verification tools evaluation", 2021, and messages that nobody receives.
enum class Finding : uint8_t {
  kNone,
  kParameter,    // a rank, a root, a size that cannot be
  kLeak,         // what was begun is not waited for
  kLifecycle,    // what is done is waited for again
  kConcurrency,  // memory of a call that is under way is used
  kMatching,     // ranks that belong together say different things
  kOrder,        // ranks wait for each other
  kRace,         // what a rank ends with depends on who was first
  kLost,         // a message that nobody receives
};

std::string_view ToString(Finding finding);

class Board {
 public:
  explicit Board(int ranks) : begun_(static_cast<size_t>(ranks)) {}

  /// A rank did not wait for what it began. Found where the rank then ends well: who fails
  /// waits for nothing.
  void Leave(int rank, std::string begun);
  void EndWell(int rank);

  /// The first one stays.
  void Find(Finding finding, std::string text);
  std::pair<Finding, std::string> found();

  /// A rank comes to a collective of a group. Failed precondition where it is another one
  /// than that of the first rank that came to this number.
  Status Come(const std::string& group, int64_t number, int rank,
              const std::string& call);

 private:
  struct First {
    int rank = 0;
    std::string call;
  };

  std::mutex mutex_;
  std::vector<std::string> begun_;  // and not waited for
  std::map<std::pair<std::string, int64_t>, First> collectives_;
  Finding finding_ = Finding::kNone;
  std::string text_;
};

}  // namespace assay::ranks

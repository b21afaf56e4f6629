// SPDX-License-Identifier: Apache-2.0
//
// Endpoint and Ranks: what a library that carries messages between ranks implements, and
// all that the suites know of it. A backend whose Ranks is not null is tested as such a
// library.
//
//   Status Greet(Endpoint& mine);  // what each rank does
//   ASSAY_ASSIGN_OR_RETURN(const std::vector<RankEnd> ended,
//                          backend.ranks()->Run(4, Greet));

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "framework/core/status.h"

namespace assay::inline v1 {

/// In place of a rank: none, and whoever sends first.
inline constexpr int kNobody = -1;
inline constexpr int kAnybody = -2;

/// What one rank has of the library. Used by one thread at a time.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends `out` and receives `in`, in any order, and returns when both are done. Either
  /// may be with nobody, and with the rank itself both are. The two do not overlap.
  /// Messages between two ranks keep their order. Data loss for a message of another
  /// length than `in`.
  virtual Status Exchange(int to, std::span<const std::byte> out, int from,
                          std::span<std::byte> in) = 0;
  /// Receives `in` from whoever sends it, and returns from whom it came.
  virtual Result<int> ReceiveAny(std::span<std::byte> in) = 0;
};

/// How one rank ended.
struct RankEnd {
  int rank = 0;
  Status status;
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  /// True where ranks are processes, of which this one has one at most. All of them call
  /// Run in the same order.
  virtual bool spans_processes() const { return false; }
  /// Runs `rank` as each of `count` ranks, and returns how those ended that live in this
  /// process, when all of them have. Unsupported for more ranks than there can be. A rank
  /// whose others are gone, or that waits for ever, ends with an error.
  virtual Result<std::vector<RankEnd>> Run(
      int count, const std::function<Status(Endpoint&)>& rank) = 0;
};

}  // namespace assay::inline v1

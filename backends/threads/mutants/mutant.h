// SPDX-License-Identifier: Apache-2.0
//
// The mutants of `threads+mutant=NAME`: a library that is right but for one
// defect. Its sentence, its class and the cases that must see it are data:
// mutants.txt.
//
// To add one, write its row in the table of its theme and its line in
// mutants.txt.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "framework/backend/communicator.h"
#include "framework/core/status.h"

namespace assay::threads {

/// A rank of a mutant.
struct Rank {
  Endpoint& right;
  int64_t exchanges = 0;        // so far, this one among them
  std::vector<std::byte> kept;  // the mutant's own

  int number() const { return right.rank(); }
  int size() const { return right.size(); }
};

/// The arguments of Endpoint::Exchange.
struct Exchanged {
  int to = kNobody;
  std::span<const std::byte> out;
  int from = kNobody;
  std::span<std::byte> in;

  Status By(Endpoint& endpoint) const {
    return endpoint.Exchange(to, out, from, in);
  }
};

using RankBody = std::function<Status(Endpoint&)>;
using RunBody =
    std::function<Result<std::vector<RankEnd>>(int, const RankBody&)>;

/// A null member changes nothing.
struct Mutant {
  std::string_view name;
  Status (*exchange)(Rank& rank, const Exchanged& what) = nullptr;
  Result<int> (*receive_any)(Rank& rank, std::span<std::byte> in) = nullptr;
  Status (*collect)(Rank& rank, const CollectiveCall& call) = nullptr;
  Result<std::unique_ptr<Pending>> (*start)(
      Rank& rank, const CollectiveCall& call) = nullptr;
  Result<std::unique_ptr<Endpoint>> (*split)(Rank& rank, int color,
                                             int key) = nullptr;
  Result<std::unique_ptr<Neighbors>> (*connect)(
      Rank& rank, std::span<const int> to, std::span<const int> from) = nullptr;
  int (*number)(const Rank& rank) = nullptr;
  int (*size)(const Rank& rank) = nullptr;
  Result<std::vector<RankEnd>> (*run)(const RunBody& right, int count,
                                      const RankBody& rank) = nullptr;
};

/// The tables.
std::span<const Mutant> MessageMutants();     // of messages, also of neighbours
std::span<const Mutant> CollectiveMutants();  // of numbers and blocks of all
std::span<const Mutant> LaunchMutants();  // ranks, groups, what is under way

inline std::array<std::span<const Mutant>, 3> MutantTables() {
  return {MessageMutants(), CollectiveMutants(), LaunchMutants()};
}

}  // namespace assay::threads

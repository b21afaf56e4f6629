// SPDX-License-Identifier: Apache-2.0
//
// OwnCase: one of the library's own collectives, in one of the ways of calling
// it, and a rank's part in it.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"
#include "framework/backend/communicator.h"
#include "framework/core/tensor.h"
#include "framework/ranks/collective.h"

namespace assay::distributed {

enum class Way : uint8_t {
  kOwn,             // blocking, input and output apart
  kInPlace,         // blocking, in place
  kStarted,         // nonblocking
  kStartedInPlace,  // nonblocking, in place
  kTwo,             // two nonblocking, waited for in different orders
  kSplit,           // on two halves of the ranks, in the opposite order
};

/// "own", "own_in_place".
std::string_view ToString(Way way);

struct OwnCase {
  CollectiveCase of;  // its algorithm is ignored
  Way way = Way::kOwn;

  /// The ranks that take part: with kSplit twice those of the collective.
  int ranks() const;
  /// The number of collectives in it, each with contents of its own.
  int sets() const;
  /// "distributed/allreduce/own.float32.sum.1021#n8".
  std::string test_id() const;
};

/// The cases of the plan, by operation, way and ranks.
std::vector<OwnCase> AllOwnCases();

/// The buffers of all ranks of one collective, and those of all collectives of
/// a case.
using OwnSet = std::vector<Tensor>;
using OwnSets = std::vector<OwnSet>;

/// One collective of a rank, on a buffer of its own.
struct OwnTask {
  ranks::Collective what;
  int set = 0;
  int rank = 0;  // in the collective
  Tensor buffer;
};

/// The tasks of a rank: one for each collective that it takes part in. A sum
/// that rounds has three more: the same again, with half the elements, and with
/// the contents of the next rank.
Result<std::vector<OwnTask>> TasksOf(const OwnCase& test_case,
                                     const ranks::Collective& what, int rank,
                                     const OwnSets& sets);

/// Runs all tasks. Data loss where the library writes beside its output, or
/// into an input that is not in place.
Status RunTasks(const OwnCase& test_case, Endpoint& mine,
                std::vector<OwnTask>& tasks);

}  // namespace assay::distributed

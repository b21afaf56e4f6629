// SPDX-License-Identifier: Apache-2.0
//
// OwnCase: a collective of the library's own, called in one way: blocking or
// nonblocking, in place or not, on all ranks or a part.
//
//   for (const OwnCase& each : AllOwnCases()) Use(each.test_id());

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/distributed/collective/collective_case.h"

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

}  // namespace assay::distributed

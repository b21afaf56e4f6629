// SPDX-License-Identifier: Apache-2.0
//
// OwnCase: a collective of the library's own, called in one of the ways that there are.
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
  kOwn,             // input and output apart
  kInPlace,         // in the same memory
  kStarted,         // begun, and waited for later
  kStartedInPlace,  // both of them
  kTwo,             // two under way, which ranks wait for in different orders
  kSplit,           // by two halves of the ranks, each in the opposite order
};

/// "own", "own_in_place".
std::string_view ToString(Way way);

struct OwnCase {
  CollectiveCase of;  // its algorithm is none
  Way way = Way::kOwn;

  /// That take part: with kSplit twice those of the collective.
  int ranks() const;
  /// Collectives in it, each with contents of its own.
  int sets() const;
  /// "distributed/allreduce/own.float32.sum.1021#n8".
  std::string test_id() const;
};

/// By operation, way and ranks.
std::vector<OwnCase> AllOwnCases();

}  // namespace assay::distributed

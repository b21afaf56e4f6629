// SPDX-License-Identifier: Apache-2.0
//
// MixingCase: a scheme after whose steps ranks have different parameters: they
// average with peers, or send gradients to a server that does not wait. It is
// judged by invariants and bounds.
//
//   for (const MixingCase& each : AllMixingCases()) Use(each.test_id());

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/ranks/scheme/mixing.h"
#include "framework/ranks/scheme/push_sum.h"

namespace assay::distributed {

struct Gossip {
  ranks::Graph graph = ranks::Graph::kRing;
};
struct PushSum {
  ranks::Directed graph = ranks::Directed::kOnePeer;
};
/// Pairs of neighbours in a ring average when one of them asks.
struct AdPsgd {};
struct AsyncServer {
  std::optional<int64_t> slack;  // steps; nothing: no bound
};

struct MixingCase {
  std::variant<Gossip, PushSum, AdPsgd, AsyncServer> scheme;
  int ranks = 1;

  /// "gossip".
  std::string_view scheme_name() const;
  /// The graph, or the slack: "ring", "slack1".
  std::string way() const;
  /// "distributed/gossip/ring#n8".
  std::string test_id() const;
};

std::vector<MixingCase> AllMixingCases();

}  // namespace assay::distributed

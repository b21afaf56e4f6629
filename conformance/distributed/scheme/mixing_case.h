// SPDX-License-Identifier: Apache-2.0
//
// MixingCase: a scheme after whose steps ranks have different parameters: they
// average with peers, or send gradients to a server that does not wait. RunCase
// trains, and holds the ranks to invariants and bounds.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/ranks/scheme/scheme.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

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

/// Adds a row. Rules by scheme:
///
///   gossip         keeps the mean of all ranks, and shrinks every wave over
///                  the ranks by the factor of its graph, both within 1e-12
///   push_sum       brings all ranks to the mean
///   ad_psgd        keeps the sum of all ranks bit by bit, and brings all to
///                  the mean in rounds that all of them end
///   async_server   counts every gradient once, none staler than its slack
///                  permits
measure::Judgement RunCase(const MixingCase& test_case, const RunOf& run,
                           record::Record* record);

}  // namespace assay::distributed

// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/scheme/mixing_case.h"

#include "framework/core/text.h"

namespace assay::distributed {
namespace {

constexpr ranks::Graph kGraphs[] = {
    ranks::Graph::kRing, ranks::Graph::kComplete, ranks::Graph::kExponential,
    ranks::Graph::kOnePeerExponential, ranks::Graph::kTorus};
constexpr std::optional<int64_t> kSlacks[] = {0, 1, 3, std::nullopt};

std::string_view NameOf(const Gossip&) { return "gossip"; }
std::string_view NameOf(const PushSum&) { return "push_sum"; }
std::string_view NameOf(const AdPsgd&) { return "ad_psgd"; }
std::string_view NameOf(const AsyncServer&) { return "async_server"; }

std::string WayOf(const Gossip& gossip) {
  return std::string(ToString(gossip.graph));
}
std::string WayOf(const PushSum& push_sum) {
  return push_sum.graph == ranks::Directed::kOnePeer ? "one_peer" : "uneven";
}
std::string WayOf(const AdPsgd&) { return "ring"; }
std::string WayOf(const AsyncServer& server) {
  return server.slack.has_value() ? StrCat("slack", *server.slack)
                                  : "unbounded";
}

}  // namespace

std::string_view MixingCase::scheme_name() const {
  return std::visit([](const auto& each) { return NameOf(each); }, scheme);
}

std::string MixingCase::way() const {
  return std::visit([](const auto& each) { return WayOf(each); }, scheme);
}

std::string MixingCase::test_id() const {
  return StrCat("distributed/", scheme_name(), "/", way(), "#n", ranks);
}

std::vector<MixingCase> AllMixingCases() {
  std::vector<MixingCase> all;
  for (const ranks::Graph graph : kGraphs) {
    for (const int ranks : {2, 3, 6, 8, 16}) {
      all.push_back({Gossip{graph}, ranks});
    }
  }
  for (const int ranks : {2, 4, 8, 16}) {
    all.push_back({PushSum{ranks::Directed::kOnePeer}, ranks});
  }
  for (const int ranks : {2, 3, 5, 8, 13}) {
    all.push_back({PushSum{ranks::Directed::kUneven}, ranks});
  }
  for (const int ranks : {2, 4, 8}) all.push_back({AdPsgd{}, ranks});
  for (const int ranks : {2, 3, 4, 8}) {
    for (const auto& slack : kSlacks) {
      all.push_back({AsyncServer{slack}, ranks});
    }
  }
  return all;
}

}  // namespace assay::distributed

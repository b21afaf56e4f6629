// SPDX-License-Identifier: Apache-2.0
//
// MixingCase: what ranks do that are not alike: they average with peers, or send
// gradients to a server that does not wait. Judged by what stays as it is, and by bounds.
//
//   for (const MixingCase& each : AllMixingCases()) Use(each.test_id());

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/testing/measure/measure.h"
#include "framework/testing/record/record.h"

namespace assay::distributed {

struct MixingCase {
  std::string scheme;  // "gossip", "push_sum", "ad_psgd", "async_server"
  std::string way;     // a graph, or a slack
  int ranks = 1;

  /// "distributed/gossip/ring#n8".
  std::string test_id() const;
};

std::vector<MixingCase> AllMixingCases();

/// Adds a row. Gossip keeps the mean, and every wave over the ranks shrinks by the factor
/// of its graph within 1e-12; push-sum brings all ranks to the mean; pairs that average
/// when one of them asks keep the sum of all ranks in every bit, and bring all to the mean
/// in rounds that all of them end; a server counts every gradient once, and none is staler than its slack permits.
measure::Judgement RunMixingCase(const MixingCase& test_case, const RunOf& run,
                                 record::Record* record);

}  // namespace assay::distributed

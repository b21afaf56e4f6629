// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/losses.h"

namespace assay::distributed {

void Losses::Add(double loss) {
  if (steps++ == 0) first = loss;
  last = loss;
}

void AddLosses(std::span<const Losses> ranks, DistributedRow* row) {
  double first = 0;
  double last = 0;
  for (const Losses& each : ranks) {
    if (each.steps == 0) return;
    first += each.first;
    last += each.last;
  }
  row->loss_first = first / static_cast<double>(ranks.size());
  row->loss_last = last / static_cast<double>(ranks.size());
}

}  // namespace assay::distributed

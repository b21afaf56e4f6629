// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/distributed_row.h"

namespace assay {

namespace {

using Row = distributed::DistributedRow;

}  // namespace

template <>
const record::Table& record::TableOf<Row>() {
  static const Table table = CaseTable<Row>(
      "distributed",
      {ASSAY_COLUMN(scheme, "how ranks train together; empty: a collective"),
       ASSAY_COLUMN(optimizer, "by name"),
       ASSAY_COLUMN(collective, "operation/algorithm"),
       ASSAY_COLUMN(transport, "that carries messages"),
       ASSAY_COLUMN(ranks, "that took part"),
       ASSAY_COLUMN(root, "of a collective that has one"),
       ASSAY_COLUMN(topology, "who is whose peer"),
       ASSAY_COLUMN(steps, "of training"),
       ASSAY_COLUMN(mode, "exact: whole numbers; float: the bits of the tree"),
       ASSAY_COLUMN(differing_bits, "of all ranks, from those that are right"),
       ASSAY_COLUMN(max_ulp, "greatest distance from what is right"),
       ASSAY_COLUMN(hash, "of what all ranks have"),
       ASSAY_COLUMN(determinism,
                    "what the bits of a rounded sum do not depend on"),
       ASSAY_COLUMN(rank_agreement, "1: ranks that should be alike are"),
       ASSAY_COLUMN(bytes_sent, "by all ranks"),
       ASSAY_COLUMN(bytes_formula, "that they should send"),
       ASSAY_COLUMN(messages, "by all ranks"),
       ASSAY_COLUMN(messages_formula, "that they should send"),
       ASSAY_COLUMN(staleness_max, "updates behind a gradient's parameters"),
       ASSAY_COLUMN(staleness_bound, "that there may be"),
       ASSAY_COLUMN(consensus, "greatest distance of ranks from their mean"),
       ASSAY_COLUMN(contraction_err, "of a wave's factor, from the formula's"),
       ASSAY_COLUMN(loss_first, "of the first step's batch, before that step"),
       ASSAY_COLUMN(loss_last, "of the last step's batch, before that step"),
       ASSAY_COLUMN(run_us,
                    "from the first rank's start to the last one's end"),
       ASSAY_COLUMN(simulated_us,
                    "by the transport's clock, which simulates messages"),
       ASSAY_COLUMN(seed, "of what is drawn")});
  return table;
}

}  // namespace assay

namespace assay::distributed {
namespace {

const bool kAdded = record::AddTable(record::TableOf<DistributedRow>());

}  // namespace
}  // namespace assay::distributed

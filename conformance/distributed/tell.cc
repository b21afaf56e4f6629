// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/tell.h"

#include <cstdint>
#include <string>

#include "conformance/distributed/ranks/distributed_row.h"
#include "framework/core/text.h"
#include "framework/file/csv.h"

namespace assay::distributed {
namespace {

/// "24504 (as wanted)", or with what was wanted.
std::string Counted(int64_t found, const record::Integer& wanted) {
  if (!wanted.has_value()) return StrCat(found);
  if (found == *wanted) return StrCat(found, " (as wanted)");
  return StrCat(found, " (wanted ", *wanted, ")");
}

void TellRow(const DistributedRow& row, std::vector<suite::Labelled>* lines) {
  std::string what = row.scheme.empty() ? row.collective : row.scheme;
  if (!row.topology.empty()) what += StrCat(" on ", row.topology);
  if (!row.scheme.empty() && !row.collective.empty()) {
    what += StrCat(" by ", row.collective);
  }
  if (row.root.has_value()) what += StrCat(", root ", *row.root);
  lines->emplace_back("ranks",
                      StrCat(row.ranks, " of ", row.transport, ": ", what));
  if (row.differing_bits.has_value()) {
    lines->emplace_back(
        "bits", StrCat(*row.differing_bits, " differ, hash ", row.hash));
  }
  if (!row.determinism.empty()) {
    lines->emplace_back("bits", StrCat("do not depend on: ", row.determinism));
  }
  if (row.bytes_sent.has_value()) {
    lines->emplace_back("bytes", Counted(*row.bytes_sent, row.bytes_formula));
  }
  if (row.messages.has_value()) {
    lines->emplace_back("messages",
                        Counted(*row.messages, row.messages_formula));
  }
  if (row.staleness_max.has_value()) {
    lines->emplace_back("staleness",
                        StrCat(*row.staleness_max, " updates, at most ",
                               row.staleness_bound.value_or(0), " permitted"));
  }
  if (row.contraction_err.has_value()) {
    lines->emplace_back(
        "waves", StrCat("shrink within ", file::ToText(*row.contraction_err),
                        " of the graph's factors"));
  }
  if (row.consensus.has_value()) {
    lines->emplace_back(
        "consensus", StrCat("ranks are at most ", file::ToText(*row.consensus),
                            " from their mean"));
  }
  if (row.loss_first.has_value() && row.loss_last.has_value()) {
    lines->emplace_back(
        "loss",
        StrCat(file::ToText(*row.loss_first), " before the first step, ",
               file::ToText(*row.loss_last), " before the last"));
  }
  if (row.simulated_us.has_value()) {
    lines->emplace_back("simulated",
                        StrCat(file::ToText(*row.simulated_us),
                               " us by the clock of ", row.transport));
  }
}

}  // namespace

std::vector<suite::Labelled> Tell(const record::PlanRow&,
                                  const record::RunFacts&,
                                  const record::Record& record) {
  std::vector<suite::Labelled> lines;
  const auto rows = record.Rows<DistributedRow>();
  if (!rows.ok()) return lines;
  for (const DistributedRow& row : *rows) TellRow(row, &lines);
  return lines;
}

}  // namespace assay::distributed

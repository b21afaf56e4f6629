// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/distributed_row.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "framework/core/text.h"
#include "framework/file/csv.h"

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

using measure::Judgement;

void Add(const Traffic& more, Traffic* sum) {
  sum->bytes += more.bytes;
  sum->messages += more.messages;
}

/// Null where every library that counts has counted what it was asked for.
std::optional<Judgement> JudgeCounts(std::span<const RankSent> ranks) {
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [asked, counted, is_counted, simulated] = ranks[rank];
    if (!is_counted || counted == Counted{.sent = asked}) continue;
    return Fails(
        kFailCost,
        StrCat("rank ", rank, ": found ", counted.sent.bytes, " bytes in ",
               counted.sent.messages, " messages and ", counted.collectives,
               " collectives of ", counted.collective_bytes,
               " bytes by the library's own count, wanted ", asked.bytes,
               " in ", asked.messages,
               " as it was asked for, and no collective"));
  }
  return std::nullopt;
}

/// "24504 (as wanted)", or with what was wanted.
std::string CountText(int64_t found, const record::Integer& wanted) {
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
    lines->emplace_back("bytes", CountText(*row.bytes_sent, row.bytes_formula));
  }
  if (row.messages.has_value()) {
    lines->emplace_back("messages",
                        CountText(*row.messages, row.messages_formula));
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

Result<LibraryCount> CountOf(const Endpoint& mine) {
  LibraryCount count{.sent = {}, .simulated_s = mine.simulated_seconds()};
  const Result<Counted> counted = mine.counted();
  if (counted.ok()) {
    count.sent = *counted;
    return count;
  }
  if (counted.status().code() == StatusCode::kUnsupported) {
    return count;
  }
  return counted.status();
}

Result<RankSent> SentSince(const LibraryCount& since, const Endpoint& mine,
                           const Traffic& asked) {
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount until, CountOf(mine));
  RankSent sent{.asked = asked};
  if (since.simulated_s.has_value() && until.simulated_s.has_value()) {
    sent.simulated = {*since.simulated_s, *until.simulated_s, true};
  }
  const std::optional<Counted>& before = since.sent;
  const std::optional<Counted>& now = until.sent;
  if (!before.has_value() || !now.has_value()) return sent;
  sent.is_counted = true;
  sent.counted = {
      .sent = {now->sent.bytes - before->sent.bytes,
               now->sent.messages - before->sent.messages},
      .collectives = now->collectives - before->collectives,
      .collective_bytes = now->collective_bytes - before->collective_bytes};
  return sent;
}

std::optional<Judgement> JudgeTraffic(std::span<const RankSent> ranks,
                                      int64_t bytes,
                                      const std::optional<int64_t>& messages,
                                      DistributedRow* row) {
  Traffic sent;
  for (const RankSent& each : ranks) Add(each.asked, &sent);
  row->bytes_sent = sent.bytes;
  row->bytes_formula = bytes;
  row->messages = sent.messages;
  if (messages.has_value()) row->messages_formula = *messages;
  if (sent.bytes == bytes &&
      sent.messages == messages.value_or(sent.messages)) {
    return JudgeCounts(ranks);
  }
  return Fails(kFailCost, StrCat("found ", sent.bytes, " bytes in ",
                                 sent.messages, " messages, wanted ", bytes,
                                 " in ", messages.value_or(sent.messages)));
}

void AddCounted(std::span<const RankSent> ranks, DistributedRow* row) {
  const bool has_all = std::ranges::all_of(ranks, [](const RankSent& each) {
    return each.is_counted && each.counted.collectives == 0;
  });
  if (!has_all) return;
  Traffic sent;
  for (const RankSent& each : ranks) Add(each.counted.sent, &sent);
  row->bytes_sent = sent.bytes;
  row->messages = sent.messages;
}

void AddSimulated(std::span<const RankSent> ranks, DistributedRow* row) {
  constexpr double kMicroseconds = 1e6;  // in a second
  double began = std::numeric_limits<double>::lowest();
  double ended = began;
  for (const RankSent& each : ranks) {
    if (!each.simulated.is_simulated) return;
    began = std::max(began, each.simulated.began_s);
    ended = std::max(ended, each.simulated.ended_s);
  }
  row->simulated_us = kMicroseconds * (ended - began);
}

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

Result<Judgement> RunAndJudge(const RunOf& run, DistributedRow row,
                              const RankBody& rank, const JudgeResults& judge,
                              record::Record* record,
                              const std::string& where) {
  ASSAY_ASSIGN_OR_RETURN(
      const RanRanks ran,
      RunRanks(run.ranks, static_cast<int>(row.ranks), rank, run.scratch));
  if (!ran.judges) return Passes();
  row.run_us = ran.us;
  std::optional<Judgement> fault = ran.fault;
  if (!fault.has_value()) {
    ASSAY_ASSIGN_OR_RETURN(fault, judge(ran.found, &row));
  }
  record->Add(row);
  if (fault.has_value()) fault->message += where;
  return WithCorrupt(fault.value_or(Passes()), ran.corrupt);
}

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

// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/sent.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "conformance/distributed/ranks/ranks_run.h"
#include "framework/core/text.h"

namespace assay::distributed {
namespace {

using measure::Judgement;

void Add(const Traffic& more, Traffic* sum) {
  sum->bytes += more.bytes;
  sum->messages += more.messages;
}

/// Null where no library counts anything else than it was asked for.
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

}  // namespace assay::distributed

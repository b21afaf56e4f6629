// SPDX-License-Identifier: Apache-2.0

#include "conformance/distributed/ranks/sent.h"

#include <algorithm>
#include <cstddef>

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
    const auto& [asked, counted, is_counted] = ranks[rank];
    if (is_counted == 0 || counted == Counted{.sent = asked}) continue;
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
  const Result<Counted> counted = mine.counted();
  if (counted.ok()) return LibraryCount(*counted);
  if (counted.status().code() == StatusCode::kUnsupported) {
    return LibraryCount();
  }
  return counted.status();
}

Result<RankSent> SentSince(const LibraryCount& before, const Endpoint& mine,
                           const Traffic& asked) {
  ASSAY_ASSIGN_OR_RETURN(const LibraryCount now, CountOf(mine));
  if (!before.has_value() || !now.has_value()) return RankSent{.asked = asked};
  return RankSent{
      .asked = asked,
      .counted = {.sent = {now->sent.bytes - before->sent.bytes,
                           now->sent.messages - before->sent.messages},
                  .collectives = now->collectives - before->collectives,
                  .collective_bytes =
                      now->collective_bytes - before->collective_bytes},
      .is_counted = 1};
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
    return each.is_counted != 0 && each.counted.collectives == 0;
  });
  if (!has_all) return;
  Traffic sent;
  for (const RankSent& each : ranks) Add(each.counted.sent, &sent);
  row->bytes_sent = sent.bytes;
  row->messages = sent.messages;
}

}  // namespace assay::distributed

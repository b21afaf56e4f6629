// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/wait/noted_endpoint.h"

#include <algorithm>

#include "framework/core/numbers.h"

namespace assay::ranks {
namespace {

/// Notes the wait for a collective.
class NotedPending final : public Pending {
 public:
  NotedPending(std::unique_ptr<Pending> inner, std::shared_ptr<RankNote> note,
               const RankCall& wait)
      : inner_(std::move(inner)), note_(std::move(note)), wait_(wait) {}

  Status Wait() override {
    return note_->During(wait_, [&] { return inner_->Wait(); });
  }

 private:
  const std::unique_ptr<Pending> inner_;
  const std::shared_ptr<RankNote> note_;
  const RankCall wait_;
};

/// Notes each exchange with neighbours.
class NotedNeighbors final : public Neighbors {
 public:
  NotedNeighbors(std::unique_ptr<Neighbors> inner,
                 std::shared_ptr<RankNote> note, uint64_t group)
      : inner_(std::move(inner)), note_(std::move(note)), group_(group) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    RankCall noted{.kind = CallKind::kNeighbors, .group = group_};
    noted.collective = note_->NextCollective(group_);
    return note_->During(noted, [&] { return inner_->Exchange(out, in); });
  }

 private:
  const std::unique_ptr<Neighbors> inner_;
  const std::shared_ptr<RankNote> note_;
  const uint64_t group_;
};

}  // namespace

RankNote::RankNote(CallTable* table, int rank, int64_t run,
                   MicrosecondClock clock)
    : table_(*table),
      rank_(rank),
      clock_(clock ? std::move(clock) : [] { return int64_t{0}; }) {
  state_.run = run;
  state_.ranks = table_.ranks();
  state_.where = Whereabouts::kBetweenCalls;
  Join(kAllRanks, rank);
}

Status RankNote::During(const RankCall& call,
                        const std::function<Status()>& make) {
  state_.where = Whereabouts::kInCall;
  state_.number += 1;
  state_.since_us = clock_();
  state_.call = call;
  table_.Write(rank_, state_);
  const Status status = make();
  if (status.ok()) state_.where = Whereabouts::kBetweenCalls;
  table_.Write(rank_, state_);
  return status;
}

int64_t RankNote::NextCollective(uint64_t group) {
  const auto place =
      std::ranges::find(state_.groups, group, &GroupPlace::group);
  return place == state_.groups.end() ? 0 : ++place->collectives;
}

void RankNote::Join(uint64_t group, int rank) {
  // The first entry stays that of all ranks.
  const size_t others = state_.groups.size() - 1;
  const size_t at = joined_ == 0 ? 0 : 1 + (joined_ - 1) % others;
  ++joined_;
  state_.groups[at] = {group, rank, 0};
  table_.Write(rank_, state_);
}

void RankNote::End() {
  state_.where = Whereabouts::kEnded;
  table_.Write(rank_, state_);
}

Status NotedEndpoint::Note(RankCall call,
                           const std::function<Status()>& make) const {
  call.group = group_;
  return note_->During(call, make);
}

Status NotedEndpoint::Exchange(int to, std::span<const std::byte> out, int from,
                               std::span<std::byte> in) {
  return Note(ExchangeOf(to, out.size(), from, in.size()),
              [&] { return inner_.Exchange(to, out, from, in); });
}

Result<int> NotedEndpoint::ReceiveAny(std::span<std::byte> in) {
  int sender = kNobody;
  ASSAY_RETURN_IF_ERROR(Note(ReceiveAnyOf(in.size()), [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(sender, inner_.ReceiveAny(in));
    return OkStatus();
  }));
  return sender;
}

Status NotedEndpoint::Collect(const CollectiveCall& call) {
  RankCall noted = CollectiveOf(CallKind::kCollective, call);
  noted.collective = note_->NextCollective(group_);
  return Note(noted, [&] { return inner_.Collect(call); });
}

Result<std::unique_ptr<Pending>> NotedEndpoint::Start(
    const CollectiveCall& call) {
  RankCall noted = CollectiveOf(CallKind::kCollective, call);
  noted.group = group_;
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Pending> begun;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(begun, inner_.Start(call));
    return OkStatus();
  }));
  noted.kind = CallKind::kWait;
  return std::unique_ptr<Pending>(
      std::make_unique<NotedPending>(std::move(begun), note_, noted));
}

Result<std::unique_ptr<Endpoint>> NotedEndpoint::Split(int color, int key) {
  RankCall noted{.kind = CallKind::kSplit};
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Endpoint> part;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(part, inner_.Split(color, key));
    return OkStatus();
  }));
  // Ranks of one part compute the same number, and those of no other part.
  const uint64_t group =
      core::KeyOf(core::KeyOf(group_, noted.collective), color);
  note_->Join(group, part->rank());
  Endpoint& inner = *part;
  return std::unique_ptr<Endpoint>(
      new NotedEndpoint(inner, std::move(part), note_, group));
}

Result<std::unique_ptr<Neighbors>> NotedEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  RankCall noted{.kind = CallKind::kConnect};
  noted.collective = note_->NextCollective(group_);
  std::unique_ptr<Neighbors> neighbors;
  ASSAY_RETURN_IF_ERROR(Note(noted, [&]() -> Status {
    ASSAY_ASSIGN_OR_RETURN(neighbors, inner_.Connect(to, from));
    return OkStatus();
  }));
  return std::unique_ptr<Neighbors>(
      std::make_unique<NotedNeighbors>(std::move(neighbors), note_, group_));
}

}  // namespace assay::ranks

// SPDX-License-Identifier: Apache-2.0

#include "framework/ranks/check/checked_endpoint.h"

#include <utility>

#include "framework/core/hash.h"
#include "framework/core/text.h"
#include "framework/ranks/wait/rank_call.h"

namespace assay::ranks {

void Held::Add(const CheckedPending* owner, Call call) {
  calls_.push_back({owner, std::move(call)});
}

void Held::Remove(const CheckedPending* owner) {
  std::erase_if(calls_, [&](const Owned& each) { return each.owner == owner; });
}

std::string Held::Meets(const Call& other) const {
  for (const Owned& each : calls_) {
    if (ShareMemory(each.call.out, other.out) ||
        ShareMemory(each.call.out, other.in) ||
        ShareMemory(each.call.in, other.out)) {
      return each.call.text;
    }
  }
  return "";
}

/// A collective that is under way.
class CheckedPending final : public Pending {
 public:
  CheckedPending(CheckedEndpoint* endpoint, std::unique_ptr<Pending> inner,
                 const CollectiveCall& call)
      : board_(endpoint->board_),
        rank_(endpoint->world_rank_),
        held_(endpoint->held_),
        inner_(std::move(inner)),
        call_(call),
        input_(core::StableHash(call.in)) {
    held_->Add(this, {call.in, call.out, TextOf(call)});
  }

  ~CheckedPending() override {
    held_->Remove(this);
    if (is_waited_for_) return;
    board_.Leave(rank_, TextOf(call_));
  }

  Status Wait() override {
    if (is_waited_for_) {
      const std::string text =
          StrCat("rank ", rank_, " waits for ", TextOf(call_), " once more");
      board_.Find(Finding::kLifecycle, text);
      return FailedPrecondition(text);
    }
    is_waited_for_ = true;
    held_->Remove(this);
    const bool is_in_place = ShareMemory(call_.in, call_.out);
    if (!is_in_place && core::StableHash(call_.in) != input_) {
      const std::string text = StrCat("rank ", rank_, " changed the input of ",
                                      TextOf(call_), " before it was done");
      board_.Find(Finding::kConcurrency, text);
      return FailedPrecondition(text);
    }
    return inner_->Wait();
  }

 private:
  Board& board_;
  const int rank_;
  const std::shared_ptr<Held> held_;
  const std::unique_ptr<Pending> inner_;
  const CollectiveCall call_;
  const uint64_t input_;
  bool is_waited_for_ = false;
};

/// Whose exchanges are collectives of the endpoint's group.
class CheckedNeighbors final : public Neighbors {
 public:
  CheckedNeighbors(CheckedEndpoint* endpoint, std::unique_ptr<Neighbors> inner)
      : endpoint_(*endpoint), inner_(std::move(inner)) {}

  Status Exchange(std::span<const std::byte> out,
                  std::span<std::byte> in) override {
    const std::string text = TextOf(CallKind::kNeighbors);
    ASSAY_RETURN_IF_ERROR(endpoint_.Come({out, in, text}));
    return inner_->Exchange(out, in);
  }

 private:
  CheckedEndpoint& endpoint_;
  const std::unique_ptr<Neighbors> inner_;
};

Status CheckedEndpoint::CheckMemory(const Held::Call& call) {
  const std::string other = held_->Meets(call);
  if (other.empty()) return OkStatus();
  const std::string text =
      StrCat("rank ", world_rank_, " uses memory of ", other,
             ", which is under way, for ", call.text);
  board_.Find(Finding::kConcurrency, text);
  return FailedPrecondition(text);
}

Status CheckedEndpoint::Exchange(int to, std::span<const std::byte> out,
                                 int from, std::span<std::byte> in) {
  const std::string text = TextOf(ExchangeOf(to, out.size(), from, in.size()));
  ASSAY_RETURN_IF_ERROR(CheckMemory({out, in, text}));
  return inner_.Exchange(to, out, from, in);
}

Result<int> CheckedEndpoint::ReceiveAny(std::span<std::byte> in) {
  ASSAY_RETURN_IF_ERROR(CheckMemory({{}, in, TextOf(ReceiveAnyOf(in.size()))}));
  return inner_.ReceiveAny(in);
}

Status CheckedEndpoint::Come(const Held::Call& call) {
  ASSAY_RETURN_IF_ERROR(CheckMemory(call));
  return board_.Come(group_, ++collectives_, world_rank_, call.text);
}

Status CheckedEndpoint::Collect(const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(Come({call.in, call.out, TextOf(call)}));
  return inner_.Collect(call);
}

Result<std::unique_ptr<Pending>> CheckedEndpoint::Start(
    const CollectiveCall& call) {
  ASSAY_RETURN_IF_ERROR(Come({call.in, call.out, TextOf(call)}));
  ASSAY_ASSIGN_OR_RETURN(auto begun, inner_.Start(call));
  return std::unique_ptr<Pending>(
      std::make_unique<CheckedPending>(this, std::move(begun), call));
}

Result<std::unique_ptr<Endpoint>> CheckedEndpoint::Split(int color, int key) {
  const int64_t number = ++collectives_;
  ASSAY_RETURN_IF_ERROR(board_.Come(group_, number, world_rank_, "split"));
  ASSAY_ASSIGN_OR_RETURN(auto part, inner_.Split(color, key));
  Endpoint& inner = *part;
  return std::unique_ptr<Endpoint>(
      new CheckedEndpoint(&board_, inner, std::move(part), world_rank_,
                          StrCat(group_, ".", number, ".", color), held_));
}

Result<std::unique_ptr<Neighbors>> CheckedEndpoint::Connect(
    std::span<const int> to, std::span<const int> from) {
  const std::string text = TextOf(CallKind::kConnect);
  ASSAY_RETURN_IF_ERROR(Come({{}, {}, text}));
  ASSAY_ASSIGN_OR_RETURN(auto neighbors, inner_.Connect(to, from));
  return std::unique_ptr<Neighbors>(
      std::make_unique<CheckedNeighbors>(this, std::move(neighbors)));
}

}  // namespace assay::ranks
